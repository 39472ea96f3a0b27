package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source"
	"github.com/seed889630bf/lastword/actors/repository/source/c"
	"github.com/seed889630bf/lastword/actors/repository/source/javascript"
	"github.com/seed889630bf/lastword/actors/repository/source/python"
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
	return target{name: moduleOf(spec), eco: "go"}
}

func (r *resolver) isOwn(spec string) bool {
	return slices.ContainsFunc(r.modules, func(m string) bool { return spec == m || strings.HasPrefix(spec, m+"/") })
}

func moduleOf(spec string) string {
	parts := strings.Split(spec, "/")
	n := 2
	switch host := parts[0]; host {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org", "git.sr.ht":
		n = 3
	case "gopkg.in":
		if len(parts) > 1 && !strings.Contains(parts[1], ".v") {
			n = 3
		}
	}
	if len(parts) > n && isMajor(parts[n]) {
		n++
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}

func isMajor(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
}

// script resolves a name as Node does, and the aliases for a package's own sources that are customary.
func (r *resolver) script(f *file, spec string) target {
	if strings.ContainsAny(spec, ":!?*$ ") && !strings.HasPrefix(spec, "$lib/") || strings.HasPrefix(spec, "/") {
		return target{}
	}
	name, rest := npmName(spec)
	if p := r.byUnit[key("npm", foldName(name))]; p != nil {
		return r.within(p, rest)
	}
	if t := r.outside("npm", name); t.name != "" {
		return t
	}
	unit := r.unitOf(f)
	first, below, _ := strings.Cut(spec, "/")
	if first == "@" || first == "~" || first == "#" || first == "$lib" {
		spec = below
	}
	for _, base := range []string{unit + "/src", unit, unit + "/src/lib", "src", "."} {
		if p := r.at("script", path.Join(base, spec)); p != nil && spec != "" {
			return target{part: p}
		}
	}
	if r.declares["npm"] || javascript.IsLibrary(name) || !isNpmName(name) || name != first && first[0] != '@' {
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

func npmName(spec string) (name, rest string) {
	parts := strings.SplitN(spec, "/", 3)
	if spec[0] == '@' && len(parts) > 1 {
		return parts[0] + "/" + parts[1], strings.Join(parts[2:], "/")
	}
	return parts[0], strings.Join(parts[1:], "/")
}

func isNpmName(name string) bool {
	return len(name) < 215 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") == "" &&
		strings.Trim(name, "@/.") != "" && name != "@" && !strings.HasPrefix(name, "@/")
}

// python finds a module beside the file, for scripts, or by its name from the outermost package on.
func (r *resolver) python(f *file, spec string) target {
	dir := path.Dir(f.Path)
	if !r.parts.inits[dir] {
		if p := r.at("python", path.Join(dir, spec)); p != nil {
			return target{part: p}
		}
	}
	unit := r.unitOf(f)
	for _, base := range []string{".", "src", unit, path.Join(unit, "src")} {
		if p := r.at("python", path.Join(base, spec)); p != nil {
			return target{part: p}
		}
	}
	top, _, _ := strings.Cut(spec, "/")
	if r.tops[top] || top == "" || python.IsLibrary(top) {
		return target{}
	}
	if t := r.outside("pypi", top); t != (target{}) || r.declares["pypi"] || !isName(top) {
		return t
	}
	if r.at("python", path.Join(dir, top)) != nil {
		return target{} // beside the file, as Python 2 looked for it
	}
	return target{name: top, eco: "pypi"}
}

func isName(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && s[0] != '_' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// rust finds the crate that the path begins with, or as much of the path as there is below the file's crate. What the
// path began with, crate or super, is not known any more.
func (r *resolver) rust(f *file, spec string) target {
	first, _, _ := strings.Cut(spec, "/")
	switch first {
	case "std", "core", "alloc", "self", "super", "crate", ".":
		return target{}
	}
	unit := r.unitOf(f)
	for p := spec; p != "."; p = path.Dir(p) {
		for _, base := range []string{stem(f.Path), path.Dir(f.Path), path.Join(unit, "src")} {
			if to := r.at("rust", path.Join(base, p)); to != nil {
				return target{part: to}
			}
		}
	}
	return r.outside("cargo", first)
}

// header finds a file beside the one that includes it, below a folder for headers, or the only one of its name.
func (r *resolver) header(f *file, spec string) target {
	unit := r.unitOf(f)
	for _, base := range []string{path.Dir(f.Path), path.Join(unit, "include"), unit, path.Join(unit, "src"), "include",
		".", "src"} {
		if to := r.at("c", path.Join(base, spec)); to != nil {
			return target{part: to}
		}
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
	eco := ""
	if known := source.Of(f.Language).Ecosystems; len(known) > 0 {
		eco = known[0]
	}
	first, _, _ := strings.Cut(spec, "/")
	if fam == "Ruby" || fam == "Dart" || fam == "Swift" {
		unit := r.unitOf(f)
		for _, base := range []string{path.Join(unit, "lib"), "lib", path.Join(unit, "Sources"), "Sources"} {
			if to := r.at(fam, path.Join(base, spec)); to != nil {
				return target{part: to}
			}
			if to := r.parts.byPath[path.Join(base, spec)]; to != nil && fam == "Swift" {
				return target{part: to}
			}
		}
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
	return r.outside(eco, first)
}
