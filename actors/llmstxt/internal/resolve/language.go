package resolve

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/language"
)

// module resolves a Go import. It also recognizes modules by the usual forms at their hosts, because a go.mod names
// only direct dependencies.
func (r *Resolver) module(spec string) Target {
	if folder := r.golang[spec]; folder != "" {
		return Target{Path: folder}
	}
	first, _, _ := strings.Cut(spec, "/")
	own := func(m string) bool { return spec == m || strings.HasPrefix(spec, m+"/") }
	if !strings.Contains(first, ".") || slices.ContainsFunc(r.modules, own) {
		return Target{}
	}
	for p := spec; p != "."; p = path.Dir(p) {
		if r.declared[plain("go", p)] == p {
			return Target{Name: p, Ecosystem: "go"}
		}
	}
	return Target{Name: golang.ModuleOf(spec), Ecosystem: "go"}
}

// script resolves a name as Node does, and also the usual aliases for a package's own sources.
func (r *Resolver) script(f *scan.File, spec string) Target {
	if strings.ContainsAny(spec, ":!?*$ ") && !strings.HasPrefix(spec, "$lib/") || strings.HasPrefix(spec, "/") {
		return Target{}
	}
	name, rest := language.NodePackage(spec)
	switch to := r.known("npm", name); {
	case to.Path != "" && rest != "":
		inside := r.at("script", path.Join(to.Path, rest))
		return cmp.Or(inside, r.at("script", path.Join(to.Path, "src", rest)), to)
	case to != (Target{}):
		return to
	}
	first, below, _ := strings.Cut(spec, "/")
	if first == "@" || first == "~" || first == "#" || first == "$lib" {
		spec = below
	}
	if to := r.below(f, spec); to != (Target{}) && spec != "" {
		return to
	}
	if r.declares["npm"] || language.IsLibrary("node", name) || !language.IsNodePackage(name) || name != first &&
		first[0] != '@' {
		return Target{}
	}
	return Target{Name: name, Ecosystem: "npm"}
}

// python finds a module beside the file, for scripts, or by its name from the outermost package on.
func (r *Resolver) python(f *scan.File, spec string) Target {
	dir := path.Dir(f.Path)
	if !r.IsPackage(dir) {
		if to := r.at("python", path.Join(dir, spec)); to != (Target{}) {
			return to
		}
	}
	if to := r.below(f, spec); to != (Target{}) {
		return to
	}
	top, _, _ := strings.Cut(spec, "/")
	if r.tops[top] || top == "" || language.IsLibrary("python", top) {
		return Target{}
	}
	if to := r.known("pypi", top); to != (Target{}) || r.declares["pypi"] || !language.IsPythonPackage(top) {
		return to
	}
	if r.at("python", path.Join(dir, top)) != (Target{}) {
		return Target{} // beside the file, where Python 2 looked
	}
	return Target{Name: top, Ecosystem: "pypi"}
}

// rust finds the crate that the path begins with, or as much of the path as exists below the file's crate. It is no
// longer known whether the path began with crate or super.
func (r *Resolver) rust(f *scan.File, spec string) Target {
	first, _, _ := strings.Cut(spec, "/")
	if language.IsLibrary("rust", first) {
		return Target{}
	}
	for p := spec; p != "."; p = path.Dir(p) {
		if to := r.below(f, p); to != (Target{}) {
			return to
		}
	}
	return r.known("cargo", first)
}

// header finds a file beside the including file, below a folder for headers, or the only file with the name.
func (r *Resolver) header(f *scan.File, spec string) Target {
	if to := r.below(f, spec); to != (Target{}) {
		return to
	}
	if strings.Contains(spec, "/") {
		return r.tail("c", spec)
	}
	if same := r.byBase[key{"c", spec}]; len(same) == 1 && !language.IsLibrary("c", spec) {
		return Target{Path: same[0].path}
	}
	return Target{}
}

// named resolves the dotted names of other languages by the ends of paths. If the first parts of a name need not be
// folders, it also tries without them.
func (r *Resolver) named(f *scan.File, fam, spec string) Target {
	if to := r.below(f, spec); to != (Target{}) {
		return to
	}
	for p := spec; strings.Contains(p, "/"); _, p, _ = strings.Cut(p, "/") {
		if to := r.tail(fam, p); to != (Target{}) {
			return to
		}
		if fam != "PHP" && fam != ".net" && fam != "beam" {
			break
		}
	}
	if fam == "jvm" {
		return r.maven(spec)
	}
	if in := source.Of(f.Language).Ecosystems; len(in) > 0 {
		first, _, _ := strings.Cut(spec, "/")
		return r.known(in[0], first)
	}
	return Target{}
}

// mostCoordinates bounds the dependencies that each import is compared with.
const mostCoordinates = 500

// coordinate is a dependency with its names in Maven.
type coordinate struct {
	name     string   // group:artifact, as in the manifest
	group    []string // parts of the group
	artifact []string // words of the artifact's name, at least one
	path     string   // the artifact's words between slashes
}

// coordinate adds a dependency if its name is one of Maven's.
func (r *Resolver) coordinate(name string) {
	group, artifact, _ := strings.Cut(name, ":")
	words := strings.FieldsFunc(artifact, func(c rune) bool { return strings.ContainsRune("-_.", c) })
	if group != "" && len(words) > 0 && len(r.coordinates) < mostCoordinates {
		r.coordinates = append(r.coordinates, coordinate{name, strings.Split(group, "."), words,
			"/" + strings.Join(words, "/") + "/"})
	}
}

// Points of a kinship.
const (
	kinName   = 2000 // for each word of the artifact's name, if the import contains all of it
	kinGroup  = 1000 // for each part of the group that the import begins with
	kinTop    = 500  // the import begins with the last part of the group
	kinWord   = 10   // for each word of the artifact's name in the import
	kinFacade = 1    // for the artifact of a group that others are written against
)

// kinship rates how likely the import belongs to the dependency; 0 means that nothing suggests it. The import begins
// with the group, or with its last part (okhttp3). Or it contains the artifact's name below the first two parts of
// the group, if the group has more than one (com/google/gson of com.google.code.gson:gson).
func (c *coordinate) kinship(spec string, parts []string) int {
	rest, n, shared := parts, 0, 0
	for shared < min(len(c.group), len(parts)) && c.group[shared] == parts[shared] {
		shared++
	}
	named := (shared > 1 || len(c.group) == 1) && strings.Contains("/"+spec+"/", c.path)
	switch {
	case shared == len(c.group):
		rest, n = parts[shared:], shared*kinGroup
	case c.group[len(c.group)-1] == parts[0]:
		n = kinTop
	case !named:
		return 0
	}
	if named {
		n += len(c.artifact) * kinName
	}
	for _, word := range c.artifact {
		if slices.Contains(rest, word) {
			n += kinWord
		}
	}
	if last := c.artifact[len(c.artifact)-1]; last == c.group[len(c.group)-1] || last == "api" || last == "core" {
		n += kinFacade
	}
	return n
}

// maven finds the dependency that an import belongs to, if one is more likely than all others.
func (r *Resolver) maven(spec string) Target {
	if t, known := r.byImport[spec]; known {
		return t
	}
	var found Target
	most, parts := 0, strings.Split(spec, "/")
	for i := range r.coordinates {
		switch n := r.coordinates[i].kinship(spec, parts); {
		case n > most:
			most, found = n, Target{Name: r.coordinates[i].name, Ecosystem: "maven"}
		case n == most:
			found = Target{}
		}
	}
	if folder := r.byName[plain("maven", found.Name)]; folder != "" {
		found = Target{Path: folder}
	}
	r.byImport[spec] = found
	return found
}
