package rank

import (
	"cmp"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// packageBytes of a Go file are read for its package comment, which may run
// to many pages before the package clause.
const packageBytes = 256 << 10

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
			return f, prose.Shorten(note, prose.SentenceRunes)
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
