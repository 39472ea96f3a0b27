package address

import (
	"cmp"
	"net/url"
	"strings"
)

// Kind is the kind of an address.
type Kind uint8

const (
	Folder  Kind = iota // a local folder
	Git                 // a repository to fetch
	Archive             // a tar or zip, by URL or as a local file
)

// Address says where a repository is.
type Address struct {
	Kind Kind
	// Path is the local folder or archive file, cleaned; "" if it is not local.
	Path string
	// URL is scheme://host/path of what is not local, without credentials and fragment. An archive keeps its query,
	// which may be a signature. The schemes are https, http, ssh (with a user name if there was one) and file.
	URL string
	// Ref is the branch, tag or commit; "" means the default branch.
	Ref string
	// Rest holds ref and folder when they cannot be separated yet: "feature/x/docs". Either Rest or Ref is empty.
	Rest string
	// Dir is the folder to read, relative to the top; "" means everything. Parse leaves it empty.
	Dir string
}

// String formats the address for people. Parse understands it, and it has neither credentials nor a query.
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

// treeMark returns what is between repository and ref in the host's own pages. For an unknown host it is the only
// mark that cannot be part of a path.
func treeMark(host string) string { return cmp.Or(treeMarks[host], "/-/tree/") }

var treeMarks = map[string]string{
	"github.com":    "/tree/",
	"bitbucket.org": "/src/",
	"codeberg.org":  "/src/branch/",
	"gitea.com":     "/src/branch/",
}
