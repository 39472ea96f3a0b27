package rank

import (
	"cmp"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// packageBytes of a Go file are read for its package comment, which may run
// to many pages before the package clause.
const packageBytes = 256 << 10

// goTree is the Go side of a repository: its packages by folder.
type goTree struct {
	packages []*goPackage // sorted by folder
}

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

func (b *builder) findGo() goTree {
	modules := b.goModules()
	dirs := make(map[string]*goPackage)
	for _, f := range b.repo.Files {
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
	b.addLongComments(dirs)
	b.countImporters(dirs)
	b.sumBytes(dirs)
	var tree goTree
	for _, p := range dirs {
		tree.packages = append(tree.packages, p)
	}
	slices.SortFunc(tree.packages, func(x, y *goPackage) int { return strings.Compare(x.dir, y.dir) })
	return tree
}

// addLongComments adds the files whose package clause the scan did not reach,
// for what stands before it is the package comment at its best. Commands keep
// theirs in generated files, too.
func (b *builder) addLongComments(dirs map[string]*goPackage) {
	for _, f := range b.repo.Files {
		p := dirs[path.Dir(f.Path)]
		if p != nil && f.Language == "Go" && f.Package == "" && f.Place != scan.Test && f.Size > scan.HeadBytes {
			p.files = append(p.files, f.Path)
		}
	}
}

// goModules gives the module path of each folder with a go.mod.
func (b *builder) goModules() map[string]string {
	modules := make(map[string]string)
	for _, f := range b.repo.Files {
		if path.Base(f.Path) == "go.mod" && f.Place != scan.Test {
			modules[path.Dir(f.Path)] = parseGoMod(b.head(f.Path, readmeBytes)).name
		}
	}
	return modules
}

// importPath joins the nearest module above with the rest of the path. The
// standard library's module has no part in its import paths.
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

func (b *builder) countImporters(dirs map[string]*goPackage) {
	byPath := make(map[string]*goPackage, len(dirs))
	for _, p := range dirs {
		byPath[p.importer] = p
	}
	type edge struct{ from, to string }
	seen := make(map[edge]bool)
	for _, f := range b.repo.Files {
		for _, imported := range f.Imports {
			e := edge{path.Dir(f.Path), imported}
			if p := byPath[imported]; p != nil && p.dir != e.from && !seen[e] {
				seen[e] = true
				p.fanIn++
			}
		}
	}
}

func (b *builder) sumBytes(dirs map[string]*goPackage) {
	for _, f := range b.repo.Files {
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

// below is 0 for the root and 1 for all else.
func (p *goPackage) below() int {
	if p.dir == "." {
		return 0
	}
	return 1
}

func (p *goPackage) isCommand() bool { return p.name == "main" }

// aside is 0 for commands where they belong, the root and cmd, and 1 elsewhere.
func (p *goPackage) aside() int {
	if p.dir == "." || strings.Contains("/"+p.dir+"/", "/cmd/") {
		return 0
	}
	return 1
}

func (p *goPackage) isInternal() bool {
	return strings.Contains("/"+p.dir+"/", "/internal/")
}

// isHidden holds for the folders that the go command passes over.
func (p *goPackage) isHidden() bool {
	return strings.HasPrefix(p.dir, "_") || strings.Contains(p.dir, "/_")
}

// fewPublic packages make internal ones worth listing.
const fewPublic = 5

// packages lists importable packages: the root, then by importers, then the
// shallow ones. Internal ones follow where there are few others.
func (b *builder) packages() []Link {
	var public, internal []*goPackage
	for _, p := range b.golang.packages {
		switch {
		case p.isCommand() || p.isHidden() || p.place != scan.Product:
		case p.isInternal():
			internal = append(internal, p)
		default:
			public = append(public, p)
		}
	}
	slices.SortFunc(public, comparePackages)
	slices.SortFunc(internal, comparePackages)
	if len(public) < fewPublic {
		public = append(public, internal...)
	}
	return b.packageLinks(public, func(p *goPackage) string {
		if p.dir == "." {
			return p.name
		}
		return p.title
	})
}

func comparePackages(x, y *goPackage) int {
	return cmp.Or(
		cmp.Compare(x.below(), y.below()),
		cmp.Compare(y.fanIn, x.fanIn),
		cmp.Compare(depth(x.dir), depth(y.dir)),
		strings.Compare(x.dir, y.dir))
}

// commands lists what can be run, the shallow first, then by the code below.
func (b *builder) commands() []Link {
	var list []*goPackage
	for _, p := range b.golang.packages {
		if p.isCommand() && !p.isInternal() && !p.isHidden() && p.place == scan.Product {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y *goPackage) int {
		return cmp.Or(cmp.Compare(x.aside(), y.aside()), cmp.Compare(depth(x.dir), depth(y.dir)), cmp.Compare(y.bytes, x.bytes), strings.Compare(x.dir, y.dir))
	})
	return b.packageLinks(list, func(p *goPackage) string {
		if p.dir == "." {
			return firstOf(moduleName(p.importer), "main")
		}
		return p.title
	})
}

// packageLinks points each package to the file with its comment.
func (b *builder) packageLinks(list []*goPackage, title func(*goPackage) string) []Link {
	var links []Link
	for _, p := range list[:min(len(list), b.caps.PerSection)] {
		file, note := b.packageDoc(p)
		l := b.link(file)
		l.Title, l.Note = title(p), note
		links = append(links, l)
	}
	return links
}

// packageDoc finds the file with the package comment, in the order in which
// one would look, and its first sentence. Without one it is the first file.
func (b *builder) packageDoc(p *goPackage) (file, note string) {
	files := slices.Clone(p.files)
	slices.SortFunc(files, compareBy(p.docRank))
	for _, f := range files {
		if note := synopsis(b.head(f, packageBytes), p.name); note != "" {
			return f, shorten(note, sentenceRunes)
		}
	}
	return files[0], ""
}

func (p *goPackage) docRank(file string) int {
	switch path.Base(file) {
	case "doc.go", "alldocs.go":
		return 0
	case p.name + ".go", path.Base(p.dir) + ".go":
		return 1
	}
	return 2
}

// synopsis is the first sentence of a package comment, as the go command shows
// it, if the file is of that package. The name "" stands for any.
func synopsis(source, name string) string {
	file, _ := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly|parser.ParseComments)
	if file == nil || file.Doc == nil || name != "" && file.Name.Name != name {
		return ""
	}
	return new(doc.Package).Synopsis(file.Doc.Text())
}

// purpose falls back to what the root package says, or the command that bears
// the module's name, or the only one there is.
func (t goTree) purpose(b *builder) (text, from string) {
	var commands []*goPackage
	for _, p := range t.packages {
		if p.place != scan.Product {
			continue
		}
		if p.dir == "." || p.dir == "cmd/"+moduleName(b.manifest.name) {
			if file, note := b.packageDoc(p); note != "" {
				return note, file
			}
		}
		if p.isCommand() && !p.isInternal() {
			commands = append(commands, p)
		}
	}
	if len(commands) == 1 {
		if file, note := b.packageDoc(commands[0]); note != "" {
			return note, file
		}
	}
	return "", ""
}
