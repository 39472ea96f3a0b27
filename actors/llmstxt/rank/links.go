package rank

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// linker turns paths into URLs that no later commit changes.
type linker struct {
	origin scan.Origin
}

func (l linker) url(path string) string {
	o := l.origin
	if o.Remote == "" || o.Commit == "" {
		return relative(path)
	}
	if o.Prefix != "" {
		path = o.Prefix + "/" + path
	}
	return o.Remote + "/" + l.blob() + escapePath(path)
}

// blob is how the hosting site spells "this file at that commit".
func (l linker) blob() string {
	host, commit := l.origin.Host, l.origin.Commit
	name, _, _ := strings.Cut(host, ".")
	switch {
	case name == "gitlab":
		return "-/blob/" + commit + "/"
	case host == "bitbucket.org":
		return "src/" + commit + "/"
	case name == "gitea" || name == "codeberg" || name == "forgejo":
		return "src/commit/" + commit + "/"
	case strings.HasSuffix(host, ".googlesource.com"):
		return "+/" + commit + "/"
	case host == "git.sr.ht":
		return "tree/" + commit + "/item/"
	}
	return "blob/" + commit + "/"
}

// relative keeps a colon in the first segment from being read as a scheme.
func relative(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if strings.Contains(first, ":") {
		path = "./" + path
	}
	return escapePath(path)
}

// escapePath percent-encodes all that is not unreserved in a URL, so that
// nothing in a file name can end a Markdown link.
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
