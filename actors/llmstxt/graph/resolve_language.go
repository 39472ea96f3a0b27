package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/c"
	"github.com/seed889630bf/lastword/actors/repository/source/golang"
	"github.com/seed889630bf/lastword/actors/repository/source/javascript"
	"github.com/seed889630bf/lastword/actors/repository/source/python"
	"github.com/seed889630bf/lastword/actors/repository/source/rust"
)

// golang also knows the modules of hosts by their shape, for what a go.mod names only where it is needed directly.
func (r *resolver) golang(spec string) target {
	if p := r.byGo[spec]; p != nil {
		return target{part: p}
	}
	first, _, _ := strings.Cut(spec, "/")
	if !strings.Contains(first, ".") || r.isOwn(spec) {
		return target{}
	}
	for p := spec; p != "."; p = path.Dir(p) {
		if r.declared[key("go", foldName(p))] == p {
			return target{name: p, eco: "go"}
		}
	}
	return target{name: golang.ModuleOf(spec), eco: "go"}
}

func (r *resolver) isOwn(spec string) bool {
	return slices.ContainsFunc(r.modules, func(m string) bool { return spec == m || strings.HasPrefix(spec, m+"/") })
}

// script resolves a name as Node does, and the aliases for a package's own sources that are customary.
func (r *resolver) script(f *file, spec string) target {
	if strings.ContainsAny(spec, ":!?*$ ") && !strings.HasPrefix(spec, "$lib/") || strings.HasPrefix(spec, "/") {
		return target{}
	}
	name, rest := javascript.Package(spec)
	if p := r.byUnit[key("npm", foldName(name))]; p != nil {
		return r.within(p, rest)
	}
	if t := r.outside("npm", name); t.name != "" {
		return t
	}
	first, below, _ := strings.Cut(spec, "/")
	if first == "@" || first == "~" || first == "#" || first == "$lib" {
		spec = below
	}
	if p := r.below(f, spec); p != nil && spec != "" {
		return target{part: p}
	}
	if r.declares["npm"] || javascript.IsLibrary(name) || !javascript.IsPackage(name) || name != first &&
		first[0] != '@' {
		return target{}
	}
	return target{name: name, eco: "npm"}
}

// within finds the part of a package that is imported by a path below its name.
func (r *resolver) within(p *part, rest string) target {
	if rest != "" {
		for _, base := range []string{p.path, path.Join(p.path, "src")} {
			if to := r.at("script", path.Join(base, rest)); to != nil {
				return target{part: to}
			}
		}
	}
	return target{part: p}
}

// python finds a module beside the file, for scripts, or by its name from the outermost package on.
func (r *resolver) python(f *file, spec string) target {
	dir := path.Dir(f.Path)
	if !r.parts.inits[dir] {
		if p := r.at("python", path.Join(dir, spec)); p != nil {
			return target{part: p}
		}
	}
	if p := r.below(f, spec); p != nil {
		return target{part: p}
	}
	top, _, _ := strings.Cut(spec, "/")
	if r.tops[top] || top == "" || python.IsLibrary(top) {
		return target{}
	}
	if t := r.outside("pypi", top); t != (target{}) || r.declares["pypi"] || !python.IsPackage(top) {
		return t
	}
	if r.at("python", path.Join(dir, top)) != nil {
		return target{} // beside the file, as Python 2 looked for it
	}
	return target{name: top, eco: "pypi"}
}

// rust finds the crate that the path begins with, or as much of the path as there is below the file's crate. What the
// path began with, crate or super, is not known any more.
func (r *resolver) rust(f *file, spec string) target {
	first, _, _ := strings.Cut(spec, "/")
	if rust.IsLibrary(first) {
		return target{}
	}
	for p := spec; p != "."; p = path.Dir(p) {
		if to := r.below(f, p); to != nil {
			return target{part: to}
		}
	}
	return r.outside("cargo", first)
}

// header finds a file beside the one that includes it, below a folder for headers, or the only one of its name.
func (r *resolver) header(f *file, spec string) target {
	if to := r.below(f, spec); to != nil {
		return target{part: to}
	}
	if strings.Contains(spec, "/") {
		return target{part: r.byTail[key("c", spec)]}
	}
	if to := r.byBase[key("c", spec)]; to != nil && !c.IsLibrary(spec) {
		return target{part: to.part}
	}
	return target{}
}

// named resolves the dotted names of other languages by the ends of paths. Where the first parts of a name need not
// be folders, they are tried without.
func (r *resolver) named(f *file, fam, spec string) target {
	if to := r.below(f, spec); to != nil {
		return target{part: to}
	}
	for p := spec; strings.Contains(p, "/"); _, p, _ = strings.Cut(p, "/") {
		if to := r.byTail[key(fam, p)]; to != nil {
			return target{part: to}
		}
		if fam != "PHP" && fam != ".net" && fam != "beam" {
			break
		}
	}
	if fam == "jvm" {
		return r.maven(spec)
	}
	if known := source.Of(f.Language).Ecosystems; len(known) > 0 {
		first, _, _ := strings.Cut(spec, "/")
		return r.outside(known[0], first)
	}
	return target{}
}

// below finds what is imported in the folders where the language looks for it.
func (r *resolver) below(f *file, spec string) *part {
	folders := source.Of(f.Language).Folders
	if folders == nil {
		return nil
	}
	for _, folder := range folders(f.Path, r.unitOf(f)) {
		at := path.Join(folder, spec)
		if to := r.at(source.Family(f.Language), at); to != nil {
			return to
		}
		if to := r.parts.byPath[at]; to != nil && f.Language == "Swift" {
			return to // a module is a folder
		}
	}
	return nil
}
