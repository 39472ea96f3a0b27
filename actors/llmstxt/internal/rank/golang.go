package rank

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/internal/stable"
)

// goTree is the Go part of a repository: its packages, sorted by folder.
type goTree []*goPackage

// goPackage is a folder with Go files.
type goPackage struct {
	dir      string // "." for the root
	name     string
	importer string // its import path
	files    []string
	place    scan.Place
}

// findGo returns the packages.
func (v *survey) findGo() goTree {
	modules := v.goModules()
	dirs := make(map[string]*goPackage)
	for _, f := range v.repo.Files {
		dir := path.Dir(f.Path)
		if f.Package == "" || strings.Contains("/"+dir, "/_") { // the go command ignores "_" folders
			continue
		}
		p := dirs[dir]
		if p == nil {
			p = &goPackage{dir: dir, name: f.Package, importer: importPath(dir, modules), place: f.Place}
			dirs[dir] = p
		}
		if p.name == "main" {
			p.name = f.Package
		}
		p.files = append(p.files, f.Path)
	}
	return stable.Sorted(maps.Values(dirs), func(x, y *goPackage) int { return strings.Compare(x.dir, y.dir) })
}

// goModules returns the module path of each folder with a go.mod.
func (v *survey) goModules() map[string]string {
	modules := make(map[string]string)
	for _, u := range v.units {
		for _, m := range u.Manifests {
			if m.Ecosystem == "go" {
				modules[u.Dir] = m.Name
			}
		}
	}
	return modules
}

// importPath joins the path of the nearest enclosing module with the rest of the folder's path. The standard
// library's module path is not part of its import paths.
func importPath(dir string, modules map[string]string) string {
	for at, rest := dir, ""; ; at, rest = path.Dir(at), path.Join(path.Base(at), rest) {
		if module, ok := modules[at]; ok {
			if module == "std" {
				return rest
			}
			return path.Join(module, rest)
		}
		if at == "." {
			return dir
		}
	}
}

func (p *goPackage) isCommand() bool { return p.name == "main" }

func (p *goPackage) isInternal() bool { return strings.Contains("/"+p.dir+"/", "/internal/") }

// commands returns the public commands of the product, the shallowest first, ignoring folders named cmd.
func (t goTree) commands() (list []*goPackage) {
	for _, p := range t {
		if p.isCommand() && !p.isInternal() && p.place == scan.Product {
			list = append(list, p)
		}
	}
	below := func(p *goPackage) int { return depth(strings.Replace("/"+p.dir, "/cmd/", "/", 1)) }
	stable.Sort(list, func(x, y *goPackage) int {
		return cmp.Or(below(x)-below(y), strings.Compare(x.dir, y.dir))
	})
	return list
}

// isProgram reports whether the root is a command, or there are commands and no package for others to import.
func (t goTree) isProgram() bool {
	commands := t.commands()
	forOthers := slices.ContainsFunc(t, func(p *goPackage) bool {
		return p.place == scan.Product && !p.isCommand() && !p.isInternal()
	})
	return len(commands) > 0 && (!forOthers || commands[0].dir == ".")
}

// packageBytes is how much of a Go file is read for its package comment, which may have many pages before the package
// clause.
const packageBytes = 256 << 10

// findPackages gives points to the files that represent packages: those of Go, and those of a workspace.
func (r *ranking) findPackages() {
	type doc struct{ file, note string }
	for i, d := range each(r.survey, len(r.golang), func(v *survey, i int) (said doc) {
		if p := v.golang[i]; p.place == scan.Product {
			said.file, said.note = v.packageDoc(p)
		}
		return said
	}) {
		p, x := r.golang[i], r.at[d.file]
		if x == nil {
			continue
		}
		x.members, x.command, x.Note = p.dir, p.isCommand(), d.note
		switch {
		case p.dir == ".":
			x.members = cmp.Or(moduleName(p.importer), p.name)
			x.add(0.8, "package at the root")
		case p.isCommand():
			x.add(0.5, "package main")
		case p.isInternal():
			x.add(0.1, "an internal package")
		default:
			x.add(0.4, "a public package")
		}
		if x.points += 0.5; r.named.Path(p.dir) {
			x.add(0.6, "named in the README")
		}
		r.faces[p.dir] = x
	}
}

// findMembers gives points to the packages of a workspace.
func (r *ranking) findMembers() {
	for _, u := range r.membersOf() {
		x := r.face(u)
		if x == nil || x.members != "" || u.About.Private && post.MatchString(u.Dir+"/") {
			continue
		}
		x.members = cmp.Or(u.About.Name, u.Dir)
		x.Note = cmp.Or(x.Note, prose.Informative(u.About.Description))
		x.add(0.6-0.05*float64(depth(u.Dir)), ofWorkspace)
		if u == r.main() {
			x.add(0.5, "has the name of the repository")
		}
		r.faces[u.Dir] = x
	}
}

// packageDoc finds the file with the package comment, in the order in which people would look, and its first
// sentence. Without a comment it returns the file with the package's name, or else the first file.
func (v *survey) packageDoc(p *goPackage) (file, note string) {
	files := stable.Sorted(slices.Values(p.files), compareBy(p.docRank))
	for _, f := range files {
		if note := golang.Synopsis(v.head(f, packageBytes), p.name); note != "" {
			return f, prose.Shorten(note, prose.SentenceRunes)
		}
	}
	return files[0], ""
}

// docRank ignores the folder's name, so that the note does not depend on it.
func (p *goPackage) docRank(file string) int {
	switch path.Base(file) {
	case "doc.go", "alldocs.go":
		return 0
	case p.name + ".go", "main.go":
		return 1
	}
	return 2
}

// goPurposes returns the descriptions of packages that may describe the whole: the root package, the package with the
// module's name, and the only command.
func (v *survey) goPurposes() (list []purpose) {
	commands, module := v.golang.commands(), moduleName(v.root().About.Name)
	for _, p := range v.golang {
		isOnly := len(commands) == 1 && p == commands[0]
		if p.place != scan.Product || p.dir != "." && !isOnly && (p.isInternal() || moduleName(p.importer) != module) {
			continue
		}
		if file, note := v.packageDoc(p); note != "" {
			list = append(list, purpose{text: note, from: file, reason: "comment of package " + p.name, points: 4,
				whole: true})
		}
	}
	return list
}
