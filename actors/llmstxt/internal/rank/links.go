package rank

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// refKind is the kind of ref that links point to.
type refKind uint8

const (
	refCommit refKind = iota + 1
	refTag
	refBranch
	refHead // whatever the default branch has
)

// What links point to.
const (
	RefBranch   = "branch"   // the default branch, or the commit if the branch is unknown
	RefCommit   = "commit"   // files that no later commit changes
	RefRelative = "relative" // paths relative to the repository
)

// linker turns paths into URLs.
type linker struct {
	origin scan.Origin
	home   string // the repository's page; "" if unknown
	prefix string // path of the material within the repository
	ref    string // "" makes links relative, or puts them below base
	kind   refKind
	base   string // ends with a slash
	raw    bool
}

// forge is how a host shows files: what is between the repository's page and the path of a file, with %s for the ref,
// and what leads to a line.
type forge struct{ page, raw, line string }

var (
	gitHub    = forge{"blob/%s/", "raw/%s/", "#L"}
	gitLab    = forge{"-/blob/%s/", "-/raw/%s/", "#L"}
	gitea     = forge{"src/%s/", "raw/%s/", "#L"} // and Forgejo
	bitbucket = forge{"src/%s/", "raw/%s/", "#lines-"}
	gitiles   = forge{"+/%s/", "+/%s/", "#"}
	sourceHut = forge{"tree/%s/item/", "blob/%s/", "#L"}

	forges = map[string]forge{"github.com": gitHub, "gitlab.com": gitLab, "bitbucket.org": bitbucket,
		"codeberg.org": gitea, "git.sr.ht": sourceHut}
	// others recognizes hosts by the beginning of their name, or of a part of it.
	others = map[string]forge{"github": gitHub, "gitee": gitHub, "gitlab": gitLab, "salsa.debian.org": gitLab,
		"invent.kde.org": gitLab, "framagit": gitLab, "code.videolan.org": gitLab, "gitea": gitea, "forgejo": gitea,
		"codeberg": gitea}
)

// forgeOf returns the forge of a host: of the well-known ones, and of self-hosted ones whose name says what they run.
// Self-hosted Bitbucket has other pages than bitbucket.org, and a gist has no folders.
func forgeOf(host string) forge {
	parts := append(strings.Split(host, "."), host)
	switch {
	case forges[host] != (forge{}):
		return forges[host]
	case strings.HasSuffix(host, ".googlesource.com"):
		return gitiles
	case slices.Contains(parts, "gist"):
		return forge{}
	}
	for _, part := range parts {
		for start, known := range others {
			if strings.HasPrefix(part, start) {
				return known
			}
		}
	}
	return forge{}
}

// url returns the URL of a file or, if the path ends with a slash, of a folder. Without a ref it is below base, or
// relative.
func (l linker) url(p string) string {
	switch {
	case l.ref == "" && l.base != "":
		return l.base + escapePath(p)
	case l.ref == "":
		return (&url.URL{Path: p}).String() // a path that looks like a scheme begins with "./"
	}
	isFolder := strings.HasSuffix(p, "/")
	p = escapePath(path.Join(l.prefix, p))
	s, ref := forgeOf(l.origin.Host), escapePath(l.ref)
	if s == gitea { // its URLs name the kind of ref
		ref = [...]string{refCommit: "commit/", refTag: "tag/", refBranch: "branch/", refHead: ""}[l.kind] + ref
	}
	switch {
	case isFolder:
		return l.origin.Remote + "/" + fmt.Sprintf(strings.Replace(s.page, "blob/", "tree/", 1), ref) + p + "/"
	case l.raw && l.origin.Host == "github.com":
		return "https://raw.githubusercontent.com/" + l.origin.Owner + "/" + l.origin.Repo + "/" + ref + "/" + p
	case l.raw:
		return l.origin.Remote + "/" + fmt.Sprintf(s.raw, ref) + p
	}
	return l.origin.Remote + "/" + fmt.Sprintf(s.page, ref) + p
}

// line returns the URL of a line in the file.
func (l linker) line(path string, line int) string {
	switch url := l.url(path); {
	case line <= 0 || !l.hasLines():
		return url
	case l.ref == "":
		return url + "#L" + strconv.Itoa(line)
	default:
		return url + forgeOf(l.origin.Host).line + strconv.Itoa(line)
	}
}

// hasLines reports whether lines stay where they are in what the links point to.
func (l linker) hasLines() bool { return l.kind != refHead && l.kind != refBranch }

// escapePath percent-encodes what would end or change the path of a URL.
func escapePath(p string) string { return (&url.URL{Path: p}).EscapedPath() }

// newLinker returns the linker of the repository. If nothing says where the files are published, or if the form of
// the host's links is unknown, links are below the caller's base, or else relative.
func (v *survey) newLinker() linker {
	l := v.published()
	if v.options.Ref == RefRelative || l.origin.Remote == "" || forgeOf(l.origin.Host) == (forge{}) {
		l.ref, l.kind = "", 0
	}
	if l.ref == "" && v.options.BaseURL != "" {
		l.base = strings.TrimRight(v.options.BaseURL, "/") + "/"
	}
	return l
}

// published finds where the files are published: the git remote at its commit, or else the module path at the
// version, or else the repository that a manifest names.
func (v *survey) published() linker {
	o := v.repo.Origin
	l := linker{raw: v.options.LinkStyle == "raw", origin: o, prefix: o.Prefix, home: o.Remote}
	switch {
	case o.Remote != "" && o.Commit != "" && o.Branch != "" && v.options.Ref != RefCommit:
		l.ref, l.kind = o.Branch, refBranch
	case o.Remote != "" && o.Commit != "":
		l.ref, l.kind = o.Commit, refCommit
	case !v.linkModule(&l):
		v.linkManifest(&l)
	}
	return l
}

// linkModule derives the home from the path of a module at a host whose layout is known.
func (v *survey) linkModule(l *linker) bool {
	m, version := v.units[0].About, strings.TrimSuffix(v.repo.Origin.Version, "+incompatible")
	if m.Ecosystem != "go" || version == "" {
		return false
	}
	repository, dir := moduleHome(m.Name)
	o := scan.ParseOrigin("https://"+repository, "", "")
	if repository == "" || o.Remote == "" {
		return false
	}
	l.origin, l.prefix, l.home, l.ref, l.kind = o, dir, o.Remote, path.Join(dir, version), refTag
	if commit, err := module.PseudoVersionRev(version); err == nil {
		l.ref, l.kind = commit, refCommit
	}
	return true
}

// moduleHome returns the repository of a module, and the module's folder in it.
func moduleHome(name string) (repository, dir string) {
	prefix, _, _ := module.SplitPathVersion(name)
	parts := strings.Split(prefix, "/")
	switch host := parts[0]; {
	case len(parts) < 2:
	case host == "golang.org" && parts[1] == "x" && len(parts) > 2:
		return "github.com/golang/" + parts[2], path.Join(parts[3:]...)
	case host == "gopkg.in" && len(parts) == 2:
		return "github.com/go-" + parts[1] + "/" + parts[1], ""
	case host == "gopkg.in":
		return "github.com/" + parts[1] + "/" + parts[2], ""
	case forges[host] != (forge{}) && len(parts) > 2:
		return strings.Join(parts[:3], "/"), path.Join(parts[3:]...)
	}
	return "", ""
}

// linkManifest uses the repository that the root's manifest names, at the commit that it pins, or else at the head.
func (v *survey) linkManifest(l *linker) {
	for _, u := range []*Unit{v.units[0], v.root()} {
		for _, address := range []string{l.origin.Remote, u.About.Repository, u.About.Homepage} {
			o := scan.ParseOrigin(address, u.About.Commit, "")
			if o.Remote == "" || address != u.About.Repository && forges[o.Host] == (forge{}) ||
				o.Host == "github.com" && strings.Contains(o.Owner, "/") {
				continue
			}
			if l.prefix == "" && u == v.units[0] {
				l.prefix = u.About.Directory
			}
			l.origin, l.home, l.ref, l.kind = o, o.Remote, "HEAD", refHead
			if o.Commit != "" {
				l.ref, l.kind = o.Commit, refCommit
			}
			return
		}
	}
}
