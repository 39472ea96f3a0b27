package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// newLinker gives links that lead somewhere: where nothing says where the files are published, or the host's way to
// show a file is not known, they are below the caller's base, else relative.
func (v *survey) newLinker() linker {
	l := v.published()
	if v.options.Ref == RefRelative || l.ref != "" && hostOf(l.origin.Host) == hostUnknown {
		l.ref, l.kind = "", 0
	}
	if l.ref == "" && v.options.BaseURL != "" {
		l.base = strings.TrimRight(v.options.BaseURL, "/") + "/"
	}
	return l
}

// published finds where the files are: the git remote at its commit, else the module path at the version, else the
// repository that a manifest names.
func (v *survey) published() linker {
	o := v.repo.Origin
	l := linker{raw: v.options.LinkStyle == "raw", origin: o, prefix: o.Prefix, home: o.Remote}
	if o.Remote != "" && o.Commit != "" {
		l.ref, l.kind = o.Commit, refCommit
		if o.Branch != "" && v.options.Ref != RefCommit {
			l.ref, l.kind = o.Branch, refBranch
		}
		return l
	}
	if l, ok := v.moduleLinker(l); ok {
		return l
	}
	l, _ = v.manifestLinker(l)
	return l
}

// moduleLinker understands the module paths of hosts whose layout is known.
func (v *survey) moduleLinker(l linker) (linker, bool) {
	m, version := v.units[0].about, strings.TrimSuffix(v.repo.Origin.Version, "+incompatible")
	if m.Ecosystem != "go" || version == "" {
		return l, false
	}
	repository, dir := moduleHome(m.Name)
	if repository == "" {
		return l, false
	}
	l.origin = scan.ParseOrigin("https://"+repository, "", "")
	l.prefix, l.home, l.ref, l.kind = dir, l.origin.Remote, path.Join(dir, version), refTag
	if parts := strings.Split(version, "-"); len(parts) >= 3 && len(parts[len(parts)-1]) == 12 {
		l.ref, l.kind = parts[len(parts)-1], refCommit
	}
	return l, l.origin.Remote != ""
}

// moduleHome is the repository of a module, and the module's folder in it.
func moduleHome(module string) (repository, dir string) {
	parts := strings.Split(module, "/")
	if last := parts[len(parts)-1]; len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		parts = parts[:len(parts)-1]
	}
	switch host := parts[0]; {
	case len(parts) < 2:
		return "", ""
	case host == "golang.org" && parts[1] == "x" && len(parts) > 2:
		return "github.com/golang/" + parts[2], path.Join(parts[3:]...)
	case host == "gopkg.in":
		return gopkgHome(parts[1:])
	case (host == "github.com" || host == "gitlab.com" || host == "bitbucket.org" || host == "codeberg.org") &&
		len(parts) > 2:
		return strings.Join(parts[:3], "/"), path.Join(parts[3:]...)
	}
	return "", ""
}

func gopkgHome(parts []string) (repository, dir string) {
	last := len(parts) - 1
	parts[last], _, _ = strings.Cut(parts[last], ".v")
	if last == 0 {
		return "github.com/go-" + parts[0] + "/" + parts[0], ""
	}
	return "github.com/" + parts[0] + "/" + parts[1], ""
}

// manifestLinker takes the repository that the root's manifest names, at the commit that it pins, else at the head.
func (v *survey) manifestLinker(l linker) (linker, bool) {
	for _, u := range []*unit{v.units[0], v.root()} {
		for _, address := range []string{l.origin.Remote, u.about.Repository, u.about.Homepage} {
			o := scan.ParseOrigin(address, u.about.Commit, "")
			if o.Remote == "" || address != u.about.Repository && !isForge(o.Host) || strings.Count(o.Owner, "/") > 0 &&
				o.Host == "github.com" {
				continue
			}
			prefix := l.prefix
			if prefix == "" && u == v.units[0] {
				prefix = u.about.Directory
			}
			l.origin, l.home, l.prefix, l.ref, l.kind = o, o.Remote, prefix, "HEAD", refHead
			if o.Commit != "" {
				l.ref, l.kind = o.Commit, refCommit
			}
			return l, true
		}
	}
	return l, false
}

func isForge(host string) bool {
	return slices.Contains([]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht"}, host)
}
