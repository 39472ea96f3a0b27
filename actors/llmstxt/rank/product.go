package rank

import (
	"cmp"
	"path"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/repository/manifest"
)

// lead is the unit that the repository is about: that of its root, unless that only holds others together, and then
// the one among them that has the name of the repository or of its owner, vue of vuejs. It is nil where none has.
func (v *survey) lead() *unit {
	root := v.root()
	if root.about.Name != "" && !v.holdsOthers(root) {
		return root
	}
	var hidden *unit
	for _, name := range []string{v.repo.Origin.Repo, v.repo.Name, v.readme.Title, root.about.Name,
		strings.TrimSuffix(v.repo.Origin.Owner, "js")} {
		for _, u := range v.units[1:] {
			if plainName(name) == "" || plainName(cmp.Or(u.about.Name, path.Base(u.dir))) != plainName(name) ||
				isBuildTree(u.about.Ecosystem) {
				continue
			}
			if !u.about.Private {
				return u
			}
			hidden = cmp.Or(hidden, u)
		}
	}
	return hidden
}

// main is the lead, else the root.
func (v *survey) main() *unit { return cmp.Or(v.lead(), v.root()) }

// product is what the repository publishes under its own name, as far as anything says so. Of a workspace without a
// package of that name nothing is said.
func (v *survey) product() manifest.Manifest {
	root, u := v.root(), v.lead()
	switch {
	case u == nil, u != root && u.about.Private:
		return manifest.Manifest{License: root.about.License, Scripts: root.about.Scripts}
	case u == root:
		return u.about
	}
	m := u.about
	if group, _, ok := strings.Cut(root.about.Name, ":"); ok && m.Name == "" {
		m.Name = group + ":" + path.Base(u.dir)
	}
	m.Version, m.Requires = cmp.Or(m.Version, root.about.Version), cmp.Or(m.Requires, root.about.Requires)
	m.License, m.Scripts = cmp.Or(m.License, root.about.License), root.about.Scripts
	return m
}

// holdsOthers holds for a root that nobody installs: it is private, or it has members and a name that says no more.
func (v *survey) holdsOthers(u *unit) bool {
	short := strings.ToLower(shortName(u.about.Name))
	return u.about.Private || len(u.members) > 0 && len(v.units) > 1 && !isBuildTree(u.about.Ecosystem) &&
		(plainName(short) != onlyLetters(short) || isNoPackage(short))
}

// isNoPackage tells the names of roots that are none of packages.
func isNoPackage(name string) bool {
	switch name {
	case "root", "parent", "repository", "repo", "workspace", "monorepo", "project", "build":
		return true
	}
	return false
}

// shortName is the last part of a package's name: without scope, group or vendor.
func shortName(name string) string { return name[strings.LastIndexAny(name, "/:")+1:] }

// plainName is the short name as one compares it: letters and digits alone, without what marks a root.
func plainName(name string) string {
	name = strings.ToLower(shortName(name))
	for _, end := range []string{"-parent", "-root", "-workspace", "-monorepo", "_root", ".js", "-js"} {
		name = strings.TrimSuffix(name, end)
	}
	return onlyLetters(name)
}

func onlyLetters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}
