package resolve

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
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
