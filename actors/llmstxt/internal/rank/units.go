package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/stable"
)

const (
	mostManifests = 250
	manifestBytes = 128 << 10
	mostMembers   = 200
)

var rootNames, rootEnds = words.Of("roots"), words.Of("ends of roots")

const ofWorkspace = "package of the workspace"

// Unit is a package of the repository: a folder with its own manifests. The root always is a unit, even without a
// manifest.
type Unit struct {
	Dir       string            // "." for the root
	About     manifest.Manifest // the manifests of the leading ecosystem, merged
	Manifests []manifest.Manifest
	members   []string         // patterns for workspace members, from all manifests of the folder
	entries   map[string]entry // entry points that were found, by path
}

// entry says how a manifest names an entry point.
type entry struct {
	from  string // the manifest
	order int    // its position among that manifest's entry points
}

// findUnits reads the manifests, the shallow ones first.
func (v *survey) findUnits() []*Unit {
	var files []string
	for i := range v.repo.Files {
		if f := &v.repo.Files[i]; manifest.Known(f.Path) && (f.Place == scan.Product || depth(f.Path) == 0) {
			files = append(files, f.Path)
		}
	}
	stable.Sort(files, compareBy(depth))
	byDir := map[string][]manifest.Manifest{".": nil}
	dirs := []string{"."}
	for _, p := range files[:min(len(files), mostManifests)] {
		m, _ := manifest.Parse(p, []byte(v.head(p, manifestBytes)))
		dir := path.Dir(p)
		if _, known := byDir[dir]; !known {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], m)
	}
	units := []*Unit{v.newUnit(".", byDir["."])}
	for _, dir := range dirs[1:] {
		// a package.json without a name only redirects imports of its folder
		if u := v.newUnit(dir, byDir[dir]); u.About.Name != "" || matches(units[0].members, dir) {
			units = append(units, u)
		}
	}
	return units
}

// newUnit merges the manifests of a folder. The leading manifest has the ecosystem with most of the code. Among
// several packages of one ecosystem, it is the one whose name is a prefix of most other names. Others of that
// ecosystem fill its gaps.
func (v *survey) newUnit(dir string, list []manifest.Manifest) *Unit {
	u := &Unit{Dir: dir, entries: make(map[string]entry)}
	stable.Sort(list, func(x, y manifest.Manifest) int {
		if (x.Name == "") != (y.Name == "") {
			return strings.Compare(y.Name, x.Name)
		}
		return cmp.Or(cmp.Compare(v.rankManifest(y), v.rankManifest(x)), countPrefixed(y, list)-countPrefixed(x, list))
	})
	u.Manifests = list
	for i, m := range list {
		u.members = append(u.members, m.Members...)
		for _, e := range m.Entries {
			if p := v.resolveEntry(dir, e); p != "" && u.entries[p].from == "" {
				u.entries[p] = entry{path.Base(m.Path), len(u.entries)}
			}
		}
		switch {
		case i == 0:
			u.About = m
		case m.Ecosystem == u.About.Ecosystem:
			u.About = fill(u.About, m)
		}
	}
	u.About.Name = strings.TrimSuffix(u.About.Name, ":") // a group without an artifact
	return u
}

// countPrefixed returns how many packages have a name that starts with this manifest's name.
func countPrefixed(m manifest.Manifest, list []manifest.Manifest) (n int) {
	for _, other := range list {
		if m.Name != "" && m.Ecosystem == other.Ecosystem && strings.HasPrefix(other.Name, m.Name) {
			n++
		}
	}
	return n
}

// rankManifest rates a manifest by its share of the code. npm ranks above jsr, and R or Elixir above what such a
// package shows in browsers.
func (v *survey) rankManifest(m manifest.Manifest) int64 {
	n := 2 * v.mix.share(m.Ecosystem)
	switch {
	case m.Ecosystem == "npm" && !m.Private:
		n++
	case m.Ecosystem == "cran", m.Ecosystem == "hex":
		n += 200
	}
	return n
}

// fill returns the manifest with its gaps filled from the other.
func fill(m, other manifest.Manifest) manifest.Manifest {
	if strings.HasSuffix(m.Name, ":") {
		m.Name += other.Name
	}
	m.Version = cmp.Or(m.Version, other.Version)
	m.Description = cmp.Or(m.Description, other.Description)
	m.License = cmp.Or(m.License, other.License)
	m.Repository = cmp.Or(m.Repository, other.Repository)
	m.Homepage = cmp.Or(m.Homepage, other.Homepage)
	m.Requires = cmp.Or(m.Requires, other.Requires)
	m.Commands = append(slices.Clip(m.Commands), other.Commands...)
	m.Scripts = append(slices.Clip(m.Scripts), other.Scripts...)
	return m
}

// resolveEntry finds the file that a manifest refers to: exactly as named, with one of the usual extensions, as an
// index, or as the source of a built file.
func (v *survey) resolveEntry(dir, entry string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(entry, path.Ext(entry)), ".d")
	rest := strings.TrimPrefix(stem, dir+"/")
	stems := []string{path.Join(dir, "src", rest), path.Join(dir, "lib", rest)}
	if _, below, built := strings.Cut(rest, "/"); built {
		stems = append(stems, path.Join(dir, "src", below), path.Join(dir, below))
	}
	var paths []string
	for _, s := range stems {
		paths = append(paths, s+".ts", s+".tsx", s+".mts", s+".py")
	}
	for _, p := range append(paths, entry, entry+".js", entry+".ts", entry+"/index.js", entry+"/index.ts", stem+".ts",
		stem+".js", stem+"/__init__.py") {
		if f := v.byPath[p]; f != nil && f.Place == scan.Product && f.Size > 0 && f.Language != "" {
			return p
		}
	}
	return ""
}

// unitOf returns the unit of the file: the deepest one above it.
func (v *survey) unitOf(p string) *Unit {
	best := v.units[0]
	for _, u := range v.units[1:] {
		if strings.HasPrefix(p, u.Dir+"/") && (best.Dir == "." || len(u.Dir) > len(best.Dir)) {
			best = u
		}
	}
	return best
}

// root returns the unit at the top, or the only other unit if much of the code is in its ecosystem.
func (v *survey) root() *Unit {
	if v.units[0].About.Name == "" && len(v.units[0].members) == 0 && len(v.units) == 2 &&
		(v.mix.share(v.units[1].About.Ecosystem) >= 20 || isBuildTree(v.units[1].About.Ecosystem)) {
		return v.units[1]
	}
	return v.units[0]
}

// membersOf returns the packages of a repository that has several.
func (r *ranking) membersOf() (list []*Unit) {
	root := r.units[0]
	declared := len(root.members) > 0 && !isBuildTree(root.About.Ecosystem)
	for _, u := range r.units[1:] {
		isMember := matches(root.members, u.Dir)
		if !declared {
			isMember = u.About.Name != ""
		}
		if isMember && u.About.Ecosystem != "go" && !isBuildTree(u.About.Ecosystem) {
			list = append(list, u)
		}
	}
	if len(list) < 2 && !declared {
		return nil
	}
	if declared && len(list) > 0 && len(root.entries) > 0 && !r.holdsOthers(root) {
		list = append(list, root)
	}
	return list[:min(len(list), mostMembers)]
}

// isBuildTree reports whether subfolders with manifests are parts of one build, not packages.
func isBuildTree(ecosystem string) bool { return ecosystem == "cmake" || ecosystem == "meson" }

// face returns the file that represents a package: its README, or else its first entry point, or else its manifest.
func (r *ranking) face(u *Unit) *item {
	var best *item
	for _, x := range r.items {
		if path.Dir(x.Path) == u.Dir && page.IsReadme(x.Path) && x.class != classNone && x.Path != r.readme.Path &&
			(best == nil || page.ReadmeRank(x.Path) < page.ReadmeRank(best.Path)) {
			best = x
		}
	}
	for _, e := range u.About.Entries {
		if best == nil {
			best = r.at[r.resolveEntry(u.Dir, e)]
		}
	}
	if best == nil {
		for _, x := range r.items {
			if x.class == classSource && strings.HasPrefix(x.Path, u.Dir+"/") && r.unitOf(x.Path) == u && (best == nil || x.points > best.points) {
				best = x
			}
		}
	}
	return cmp.Or(best, r.at[u.About.Path])
}

// isProgram reports whether the package is a program, on which no other package can build.
func (v *survey) isProgram(u *Unit) bool {
	switch u.About.Ecosystem {
	case "npm":
		return u.About.Private
	case "cargo":
		entries := u.About.Entries // the library's entry is the first
		return len(entries) > 0 && v.resolveEntry(u.Dir, entries[0]) == ""
	}
	return false
}

// glob translates a pattern into a regular expression.
var glob = strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`)

// matches supports "*", "**", and patterns that exclude.
func matches(patterns []string, dir string) bool {
	matched := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		p = strings.Trim(strings.TrimPrefix(p, "./"), "/")
		if ok, _ := regexp.MatchString("^"+glob.Replace(regexp.QuoteMeta(p))+"$", dir); ok {
			matched = !not
		}
	}
	return matched
}

// findLead finds the unit that the repository is about. This is the root unit, unless it only holds others together.
// Then it is the unit with the name of the repository or of its owner, such as vue of vuejs; nil if there is none.
func (v *survey) findLead() *Unit {
	root := v.root()
	if root.About.Name != "" && !v.holdsOthers(root) {
		return root
	}
	var hidden *Unit
	for _, name := range []string{v.repo.Origin.Repo, v.repo.Name, v.readme.Title, root.About.Name,
		strings.TrimSuffix(v.repo.Origin.Owner, "js")} {
		for _, u := range v.units[1:] {
			scoped := strings.Replace(u.About.Name, "js/", "/", 1) // @reduxjs/toolkit of redux-toolkit
			if plainName(name) == "" || isBuildTree(u.About.Ecosystem) || !prose.SameWords(scoped, name) &&
				!prose.SameWords(plainName(cmp.Or(u.About.Name, path.Base(u.Dir))), plainName(name)) {
				continue
			}
			if !u.About.Private {
				return u
			}
			hidden = cmp.Or(hidden, u)
		}
	}
	return hidden
}

// main returns the lead, or else the root.
func (v *survey) main() *Unit { return cmp.Or(v.lead, v.root()) }

// product returns what the repository publishes under its own name, as far as anything says so. A workspace without a
// package of that name has none, and so has a package for a language in which there is no code.
func (v *survey) product() manifest.Manifest {
	root, u := v.root(), v.lead
	switch {
	case u == nil, u != root && u.About.Private, v.mix.lacks(u.About.Ecosystem):
		return manifest.Manifest{License: root.About.License, Scripts: root.About.Scripts}
	case u == root:
		return u.About
	}
	m := u.About
	if group, _, ok := strings.Cut(root.About.Name, ":"); ok && m.Name == "" {
		m.Name = group + ":" + path.Base(u.Dir)
	}
	m.Version, m.Requires = cmp.Or(m.Version, root.About.Version), cmp.Or(m.Requires, root.About.Requires)
	m.License, m.Scripts = cmp.Or(m.License, root.About.License), root.About.Scripts
	return m
}

// holdsOthers reports whether nobody installs the root: it is private, or a build without its own sources, or it
// has members and an unspecific name.
func (v *survey) holdsOthers(u *Unit) bool {
	short, sources := strings.ToLower(shortName(u.About.Name)), path.Join(u.Dir, "src")+"/"
	if u.About.Ecosystem == "gradle" && !slices.ContainsFunc(v.repo.Files, func(f scan.File) bool {
		return strings.HasPrefix(f.Path, sources)
	}) {
		return true
	}
	return u.About.Private || len(u.members) > 0 && len(v.units) > 1 && !isBuildTree(u.About.Ecosystem) &&
		(rootEnds.End(short) || rootNames.Has(short))
}

// shortName returns the last part of a package's name: without scope, group or vendor.
func shortName(name string) string { return name[strings.LastIndexAny(name, "/:")+1:] }

// plainName returns the short name in the form for comparisons, without endings that mark a root.
func plainName(name string) string {
	name = strings.ToLower(shortName(name))
	for _, end := range rootEnds {
		name = strings.TrimSuffix(name, end)
	}
	return name
}
