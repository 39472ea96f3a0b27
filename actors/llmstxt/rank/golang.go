package rank

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// goTree is the Go side of a repository: its packages, sorted by folder.
type goTree []*goPackage

type goPackage struct {
	dir      string // "." for the root
	name     string
	title    string // folder below its module, as one would name it
	importer string // import path
	files    []string
	bytes    int64 // of this folder and those below
	fanIn    int   // packages of the repository that import it
	place    scan.Place
}

func (v *survey) findGo() goTree {
	modules := v.goModules()
	dirs := make(map[string]*goPackage)
	for _, f := range v.repo.Files {
		dir := path.Dir(f.Path)
		if f.Package == "" {
			continue
		}
		p := dirs[dir]
		if p == nil {
			p = &goPackage{dir: dir, name: f.Package, title: dir, importer: importPath(dir, modules), place: f.Place}
			if modules["."] == "" && !strings.Contains(p.importer, ".") {
				p.title = p.importer // the Go tree: its modules lie below the root and share its paths
			}
			dirs[dir] = p
		}
		if p.name == "main" {
			p.name = f.Package
		}
		p.files = append(p.files, f.Path)
	}
	v.addLongComments(dirs)
	v.countImporters(dirs)
	v.sumBytes(dirs)
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
	for _, f := range v.repo.Files {
		if path.Base(f.Path) == "go.mod" && f.Place != scan.Test {
			modules[path.Dir(f.Path)] = v.modulePath(f.Path)
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

func (v *survey) sumBytes(dirs map[string]*goPackage) {
	for _, f := range v.repo.Files {
		if f.Kind != scan.Source || f.Place == scan.Test {
			continue
		}
		for dir := path.Dir(f.Path); ; dir = path.Dir(dir) {
			if p := dirs[dir]; p != nil {
				p.bytes += f.Size
			}
			if dir == "." {
				break
			}
		}
	}
}

func (p *goPackage) isCommand() bool { return p.name == "main" }

// aside is 0 for commands where they belong, the root and cmd, and 1 elsewhere.
func (p *goPackage) aside() int {
	if p.dir == "." || strings.Contains("/"+p.dir+"/", "/cmd/") {
		return 0
	}
	return 1
}

func (p *goPackage) isInternal() bool { return isInternal(p.dir + "/") }

// isHidden holds for the folders that the go command passes over.
func (p *goPackage) isHidden() bool { return strings.Contains("/"+p.dir, "/_") }

// isRunnable holds for a command of the product that is there for others.
func (p *goPackage) isRunnable() bool {
	return p.isCommand() && !p.isInternal() && !p.isHidden() && p.place == scan.Product
}

// modulePath is that of a go.mod that the survey has read, or reads it.
func (v *survey) modulePath(p string) string {
	for _, u := range v.units {
		if u.about.Path == p {
			return u.about.Name
		}
	}
	m, _ := manifest.Parse(p, []byte(v.head(p, manifestBytes)))
	return m.Name
}

// isSmall holds for a Go tree with so few packages that its files are worth listing one by one.
func (t goTree) isSmall() bool {
	public := 0
	for _, p := range t {
		if !p.isCommand() && !p.isHidden() && p.place == scan.Product {
			public++
		}
	}
	return public > 0 && public <= fewPublic
}
