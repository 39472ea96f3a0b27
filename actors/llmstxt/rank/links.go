package rank

import (
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
)

type refKind uint8

const (
	refCommit refKind = iota + 1
	refTag
	refBranch
	refHead // whatever the default branch has
)

// What links lead to.
const (
	RefBranch   = "branch"   // the default branch, or the commit if it is not known
	RefCommit   = "commit"   // files that no later commit changes
	RefRelative = "relative" // paths below the repository
)

// linker turns paths into URLs.
type linker struct {
	origin scan.Origin
	home   string // the repository's page; "" when unknown
	prefix string // of the material in the repository
	ref    string // "" makes links relative, or puts them below base
	kind   refKind
	base   string // ends with a slash
	raw    bool
}

func (l linker) commit() string {
	if l.kind == refCommit {
		return l.ref
	}
	return l.origin.Commit
}

func (l linker) url(path string) string {
	if l.ref == "" || l.origin.Remote == "" {
		if l.base != "" {
			return l.base + escapePath(path)
		}
		return relative(path)
	}
	if l.prefix != "" {
		path = l.prefix + "/" + path
	}
	if l.raw && l.origin.Host == "github.com" {
		return "https://raw.githubusercontent.com/" + l.origin.Owner + "/" + l.origin.Repo + "/" +
			escapePath(l.ref+"/"+path)
	}
	return l.origin.Remote + "/" + l.form() + escapePath(path)
}

// line is the URL of a line of the file.
func (l linker) line(path string, line int) string {
	url, n := l.url(path), strconv.Itoa(line)
	switch {
	case line <= 0 || !l.hasLines():
		return url
	case l.ref != "" && hostOf(l.origin.Host) == hostBitbucket:
		return url + "#lines-" + n
	case l.ref != "" && hostOf(l.origin.Host) == hostGitiles:
		return url + "#" + n
	}
	return url + "#L" + n
}

// hasLines tells whether a line stays where it is at what the links lead to.
func (l linker) hasLines() bool { return l.kind != refHead && l.kind != refBranch }

// form is how the hosting site spells "this file at that commit".
func (l linker) form() string {
	ref, view := escapePath(l.ref), "blob"
	if l.raw {
		view = "raw"
	}
	switch hostOf(l.origin.Host) {
	case hostGitLab:
		return "-/" + view + "/" + ref + "/"
	case hostBitbucket:
		if l.raw {
			return "raw/" + ref + "/"
		}
		return "src/" + ref + "/"
	case hostGitea:
		return l.giteaForm(ref)
	case hostGitiles:
		return "+/" + ref + "/"
	case hostSourceHut:
		if l.raw {
			return "blob/" + ref + "/"
		}
		return "tree/" + ref + "/item/"
	}
	return view + "/" + ref + "/"
}

func (l linker) giteaForm(ref string) string {
	view := "src/"
	if l.raw {
		view = "raw/"
	}
	switch l.kind {
	case refCommit:
		view += "commit/"
	case refTag:
		view += "tag/"
	case refBranch:
		view += "branch/"
	}
	return view + ref + "/"
}

// relative keeps a colon in the first segment from being read as a scheme.
func relative(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if strings.Contains(first, ":") {
		path = "./" + path
	}
	return escapePath(path)
}

// escapePath percent-encodes all that is not unreserved in a URL, so that nothing in a file name can end a Markdown
// link.
func escapePath(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/@+:", c) >= 0
}

// host is what runs a hosting site, which decides how its links look.
type host uint8

const (
	hostUnknown host = iota
	hostGitHub
	hostGitLab
	hostBitbucket
	hostGitea // and Forgejo
	hostGitiles
	hostSourceHut
)

var hosts = map[string]host{
	"github.com": hostGitHub, "gitee.com": hostGitHub, "gitlab.com": hostGitLab, "salsa.debian.org": hostGitLab,
	"invent.kde.org": hostGitLab, "framagit.org": hostGitLab, "code.videolan.org": hostGitLab,
	"bitbucket.org": hostBitbucket, "codeberg.org": hostGitea, "gitea.com": hostGitea, "git.sr.ht": hostSourceHut,
}

// hostOf knows the sites that many use, and those of one's own that say by their name what they run. Bitbucket for
// one's own has other pages than bitbucket.org, and a gist has no folders.
func hostOf(name string) host {
	if known := hosts[name]; known != hostUnknown {
		return known
	}
	if strings.HasSuffix(name, ".googlesource.com") {
		return hostGitiles
	}
	return hostByLabel(name)
}

func hostByLabel(name string) host {
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case strings.HasPrefix(label, "gitlab"):
			return hostGitLab
		case strings.HasPrefix(label, "gitea"), strings.HasPrefix(label, "forgejo"), label == "codeberg":
			return hostGitea
		case strings.HasPrefix(label, "github"):
			return hostGitHub
		case label == "gist":
			return hostUnknown
		}
	}
	return hostUnknown
}
