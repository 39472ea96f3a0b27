package address

import (
	"cmp"
	"net/url"
	"strings"
)

// Kind says what an address names.
type Kind uint8

const (
	Folder  Kind = iota // a local folder
	Git                 // a repository to fetch
	Archive             // a tar or zip, by URL or as a local file
)

// Address is where a repository is.
type Address struct {
	Kind Kind
	// Path is the local folder or archive file as it was given, cleaned; else "".
	Path string
	// URL is scheme://host/path of what is not local, without credentials and fragment; an archive keeps its query,
	// which may be a signature. The schemes are https, http, ssh (with a user name where there was one) and file.
	URL string
	// Ref is the branch, tag or commit, "" for the default branch.
	Ref string
	// Rest holds ref and folder, yet to be told apart: "feature/x/docs". Either it or Ref is empty.
	Rest string
	// Dir is the folder to read below the top, "" for all. Parse leaves it empty.
	Dir string
}

// String gives the address for people: Parse understands it, and it has neither credentials nor a query.
func (a Address) String() string {
	switch {
	case a.Kind == Folder && isArchiveName(a.Path):
		return a.Path + "/"
	case a.Path != "":
		return a.Path
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	if a.Kind == Git {
		u.Path, u.RawPath = u.Path+a.suffix(u), ""
	}
	return u.String()
}

func (a Address) suffix(u *url.URL) string {
	switch {
	case a.Rest != "":
		return treeMark(u.Host) + a.Rest
	case a.Dir != "":
		return treeMark(u.Host) + cmp.Or(a.Ref, "HEAD") + "/" + a.Dir
	case a.Ref == "":
		return ""
	case u.Scheme == "ssh" || strings.Contains(a.Ref, "/"):
		return "@" + a.Ref
	}
	return treeMark(u.Host) + a.Ref
}

// treeMark is what stands between repository and ref in the host's own pages. Where the host is not known it is the
// only mark that no path can be mistaken for.
func treeMark(host string) string { return cmp.Or(treeMarks[host], "/-/tree/") }

var treeMarks = map[string]string{
	"github.com":    "/tree/",
	"bitbucket.org": "/src/",
	"codeberg.org":  "/src/branch/",
	"gitea.com":     "/src/branch/",
}
