package rank

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// goTree is the Go part of a repository: its packages, sorted by folder.
type goTree []*goPackage

// goPackage is a folder with Go files.
type goPackage struct {
	dir      string // "." for the root
	name     string
	importer string // its import path
	files    []string
	fanIn    int // number of packages in the repository that import it
	place    scan.Place
}

// findGo returns the packages, with their importers counted.
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
	v.addLongComments(dirs)
	v.countImporters(dirs)
	return slices.SortedFunc(maps.Values(dirs), func(x, y *goPackage) int { return strings.Compare(x.dir, y.dir) })
}

// addLongComments adds files whose package clause is beyond the part that the scan read: the comment before it is the
// most complete package comment. Commands keep theirs in generated files too.
func (v *survey) addLongComments(dirs map[string]*goPackage) {
	for _, f := range v.repo.Files {
		p := dirs[path.Dir(f.Path)]
		if p != nil && f.Language == "Go" && f.Package == "" && f.Place != scan.Test && f.Size > scan.HeadBytes {
			p.files = append(p.files, f.Path)
		}
	}
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

// countImporters counts, for each package, the packages that import it.
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

// commands returns the public commands of the product, the shallowest first, ignoring folders named cmd.
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

// isProgram reports whether the root is a command, or there are commands and no package for others to import.
func (t goTree) isProgram() bool {
	commands := t.commands()
	forOthers := slices.ContainsFunc(t, func(p *goPackage) bool {
		return p.place == scan.Product && !p.isCommand() && !p.isInternal()
	})
	return len(commands) > 0 && (!forOthers || commands[0].dir == ".")
}
