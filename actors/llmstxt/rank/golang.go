package rank

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// goTree is the Go side of a repository: its packages, sorted by folder.
type goTree []*goPackage

type goPackage struct {
	dir      string // "." for the root
	name     string
	importer string // import path
	files    []string
	fanIn    int // packages of the repository that import it
	place    scan.Place
}

func (v *survey) findGo() goTree {
	modules := v.goModules()
	dirs := make(map[string]*goPackage)
	for _, f := range v.repo.Files {
		dir := path.Dir(f.Path)
		if f.Package == "" || strings.Contains("/"+dir, "/_") { // the go command passes over "_"
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
	v.addLongComments(dirs)
	v.countImporters(dirs)
	return slices.SortedFunc(maps.Values(dirs), func(x, y *goPackage) int { return strings.Compare(x.dir, y.dir) })
}

// addLongComments adds the files whose package clause the scan did not reach, for what stands before it is the
// package comment at its best. Commands keep theirs in generated files, too.
func (v *survey) addLongComments(dirs map[string]*goPackage) {
	for _, f := range v.repo.Files {
		p := dirs[path.Dir(f.Path)]
		if p != nil && f.Language == "Go" && f.Package == "" && f.Place != scan.Test && f.Size > scan.HeadBytes {
			p.files = append(p.files, f.Path)
		}
	}
}

// goModules gives the module path of each folder with a go.mod.
func (v *survey) goModules() map[string]string {
	modules := make(map[string]string)
	for _, u := range v.units {
		for _, m := range u.manifests {
			if m.Ecosystem == "go" {
				modules[u.dir] = m.Name
			}
		}
	}
	return modules
}

// importPath joins the nearest module above with the rest of the path. The standard library's module has no part in
// its import paths.
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

func (v *survey) countImporters(dirs map[string]*goPackage) {
	byPath := make(map[string]*goPackage, len(dirs))
	for _, p := range dirs {
		byPath[p.importer] = p
	}
	seen := make(map[[2]string]bool)
	for _, f := range v.repo.Files {
		for _, imported := range f.Imports {
			edge := [2]string{path.Dir(f.Path), imported}
			if p := byPath[imported]; p != nil && p.dir != edge[0] && !seen[edge] {
				seen[edge] = true
				p.fanIn++
			}
		}
	}
}

func (p *goPackage) isCommand() bool { return p.name == "main" }

func (p *goPackage) isInternal() bool { return strings.Contains("/"+p.dir+"/", "/internal/") }

// commands are those of the product that are there for others, the shallow first, as if no folder was called cmd.
func (t goTree) commands() (list []*goPackage) {
	for _, p := range t {
		if p.isCommand() && !p.isInternal() && p.place == scan.Product {
			list = append(list, p)
		}
	}
	below := func(p *goPackage) int { return depth(strings.Replace("/"+p.dir, "/cmd/", "/", 1)) }
	slices.SortFunc(list, func(x, y *goPackage) int {
		return cmp.Or(below(x)-below(y), strings.Compare(x.dir, y.dir))
	})
	return list
}

// importable are the packages of the product that others, or only the repository itself, can import.
func (t goTree) importable() (public, internal []*goPackage) {
	for _, p := range t {
		switch {
		case p.isCommand() || p.place != scan.Product:
		case p.isInternal():
			internal = append(internal, p)
		default:
			public = append(public, p)
		}
	}
	return public, internal
}

// isProgram holds for a Go tree whose root is a command, or that has commands and nothing for others to import.
func (t goTree) isProgram() bool {
	commands := t.commands()
	public, _ := t.importable()
	return len(commands) > 0 && (len(public) == 0 || commands[0].dir == ".")
}
