package golang

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/scanner"
	gotoken "go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Source is one file of a package.
type Source struct {
	Path string
	Text []byte
}

// Package returns the outline of a Go package from its files without tests. Symbols are in the order of the files and
// their lines. After ctx is done it soon returns what it has found. A file that does not parse yields what can be
// read of it. A package main yields no symbols.
func Package(ctx context.Context, files []Source) surface.Outline {
	p := goPackage{ctx: ctx, set: gotoken.NewFileSet(), at: map[string]int{}}
	parsed := p.parse(files)
	name := mainName(parsed)
	for i, file := range parsed {
		if file == nil || file.Name.Name != name {
			continue
		}
		text := goPrinter().Text(goParser().Parse(file.Doc.Text())) // one line for each paragraph
		if text = bytes.TrimSpace(text); len(text) > len(p.out.Doc) {
			p.out.Doc = string(text)
		}
		if p.src = surface.Normal(files[i].Text); name != "main" {
			p.file(files[i].Path, file)
		}
	}
	p.out.Symbols = p.out.Symbols[:min(len(p.out.Symbols), surface.MaxSymbols*len(files))]
	return p.out
}

// Outline is Package of a single file.
func Outline(ctx context.Context, text []byte) surface.Outline {
	return Package(ctx, []Source{{Text: text}})
}

// goPackage holds the state of a Package.
type goPackage struct {
	ctx context.Context
	set *gotoken.FileSet
	at  map[string]int // index of a name in out.Symbols: files for other systems declare it again
	src []byte         // of the file that is read
	out surface.Outline
}

// parse returns a syntax tree for each file; nil for one that cannot be parsed, or that ctx leaves no time for.
func (p *goPackage) parse(files []Source) []*ast.File {
	parsed := make([]*ast.File, len(files))
	for i, f := range files {
		if p.ctx.Err() != nil {
			break
		}
		if file := p.parseFile(surface.Normal(f.Text)); file != nil && file.Name != nil {
			parsed[i] = file
		}
	}
	return parsed
}

// mainName returns the package name of most files. A generator that is excluded from the build has another.
func mainName(files []*ast.File) (name string) {
	count := map[string]int{}
	for _, f := range files {
		if f != nil {
			count[f.Name.Name]++
		}
	}
	for _, f := range files {
		if f != nil && count[f.Name.Name] > count[name] {
			name = f.Name.Name
		}
	}
	return name
}

// file adds what a file exports, in the order of its lines.
func (p *goPackage) file(path string, file *ast.File) {
	first := len(p.out.Symbols)
	for _, decl := range file.Decls {
		if p.ctx.Err() != nil {
			break
		}
		switch d := decl.(type) {
		case *ast.FuncDecl:
			p.function(path, d)
		case *ast.GenDecl:
			p.general(path, d)
		}
	}
	stable.Sort(p.out.Symbols[first:], func(a, b surface.Symbol) int { return cmp.Compare(a.Line, b.Line) })
}

// add keeps the first declaration of a name; later declarations only contribute their doc.
func (p *goPackage) add(path string, pos gotoken.Pos, doc string, s surface.Symbol) {
	if i, ok := p.at[s.Name]; ok {
		p.out.Symbols[i].Doc = cmp.Or(p.out.Symbols[i].Doc, goSynopsis(doc))
		return
	}
	p.at[s.Name] = len(p.out.Symbols)
	s.File, s.Line, s.Doc = path, p.set.PositionFor(pos, false).Line, goSynopsis(doc)
	s.Signature = prose.Shorten(prose.Tidy(s.Signature), surface.SignatureRunes)
	p.out.Symbols = append(p.out.Symbols, s)
}

// function adds an exported function, or an exported method of an exported type.
func (p *goPackage) function(path string, d *ast.FuncDecl) {
	s := surface.Symbol{Name: d.Name.Name, Kind: surface.Function, Signature: p.text(d.Pos(), d.Type.End())}
	if !ast.IsExported(s.Name) {
		return
	}
	if d.Recv != nil {
		owner := ""
		if len(d.Recv.List) > 0 {
			owner = typeName(d.Recv.List[0].Type)
		}
		if !ast.IsExported(owner) {
			return
		}
		s.Name, s.Kind = owner+"."+s.Name, surface.Method
	}
	p.add(path, d.Pos(), d.Doc.Text(), s)
}

// typeName returns the name of a type without its arguments and stars; "" if it has none.
func typeName(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// general adds the exported types of a declaration, or leaves constants and variables to values.
func (p *goPackage) general(path string, d *ast.GenDecl) {
	switch d.Tok {
	case gotoken.TYPE:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
				doc := cmp.Or(t.Doc.Text(), single(d), t.Comment.Text())
				p.add(path, t.Pos(), doc, surface.Symbol{Name: t.Name.Name, Kind: surface.Type, Signature: "type " + p.text(t.Pos(), t.Type.Pos()) + " " + p.typeOf(t.Type)})
			}
		}
	case gotoken.CONST, gotoken.VAR:
		p.values(path, d)
	}
}

// single returns the doc of a declaration if it declares only one thing, so that the doc is about that.
func single(d *ast.GenDecl) string {
	if len(d.Specs) == 1 || !d.Lparen.IsValid() {
		return d.Doc.Text()
	}
	return ""
}

// goParser parses doc comments. Links to symbols lose their brackets, whether or not the package has the symbol.
func goParser() *comment.Parser {
	return &comment.Parser{LookupSym: func(_, _ string) bool { return true }}
}

func goPrinter() *comment.Printer { return &comment.Printer{TextWidth: -1} }

// goSynopsis returns the notice of a deprecation, or else the first sentence of the first paragraph.
func goSynopsis(doc string) string {
	text := doc
	if _, notice, ok := strings.Cut("\n\n"+doc, "\n\nDeprecated:"); ok {
		text = "Deprecated:" + notice
	}
	text, _, _ = strings.Cut(text, "\n\n")
	for _, block := range goParser().Parse(text).Content {
		if _, ok := block.(*comment.Paragraph); ok {
			plain := goPrinter().Text(&comment.Doc{Content: []comment.Block{block}})
			return prose.Inline(prose.Sentence(string(plain)))
		}
	}
	return ""
}

// Note returns the first sentence of the package comment.
func Note(text string) string { return prose.Shorten(Synopsis(text, ""), prose.SentenceRunes) }

// Synopsis returns the first sentence of a package comment, as the go command shows it, if the file belongs to that
// package. The name "" matches any package.
func Synopsis(source, name string) string {
	file, _ := parser.ParseFile(gotoken.NewFileSet(), "", source, parser.PackageClauseOnly|parser.ParseComments)
	if file == nil || file.Doc == nil || name != "" && file.Name.Name != name {
		return ""
	}
	return goSynopsis(file.Doc.Text())
}

// ModuleOf returns the module of an import path, by the conventions of hosts.
func ModuleOf(spec string) string {
	parts := strings.Split(spec, "/")
	n := 2
	switch parts[0] {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "golang.org", "git.sr.ht":
		n = 3
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}

// Head returns the package name and the imports, as far as the head contains them; Go files have both at the
// beginning. A file that is excluded from the build, or that only lists tools, has no package.
func Head(head []byte) (name string, imports []string) {
	if isBuildIgnored(head) {
		return "", nil
	}
	file, _ := parser.ParseFile(gotoken.NewFileSet(), "", head, parser.ImportsOnly|parser.SkipObjectResolution)
	if file == nil || file.Name == nil || file.Name.Name == "_" || listsTools(file) {
		return "", nil
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports = append(imports, path)
		}
	}
	return file.Name.Name, slices.Clip(imports)
}

// listsTools reports whether a file only keeps tools among its module's dependencies.
func listsTools(file *ast.File) bool {
	return file.Name.Name == "tools" && len(file.Imports) > 0 &&
		!slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Name == nil || s.Name.Name != "_" })
}

func isBuildIgnored(head []byte) bool {
	return bytes.Contains(head, []byte("//go:build ignore")) &&
		regexp.MustCompile(`(?m)^//go:build ignore\s*$`).Match(head)
}

// The parser ignores contexts, and its stack grows with open brackets and with operators before an operand. So it
// only gets text up to this size and this depth.
const (
	maxGoBytes = 512 << 10
	deepestGo  = 1000
)

// parseFile parses a file. If the file is broken, it keeps what precedes the broken declaration: the parser takes the
// next declaration for the end of the broken one.
func (p *goPackage) parseFile(text []byte) *ast.File {
	text = text[:min(len(text), maxGoBytes)]
	if goDepth(text) > deepestGo {
		return nil
	}
	mode := parser.ParseComments | parser.SkipObjectResolution
	file, err := parser.ParseFile(p.set, "", text, mode)
	if faults, ok := errors.AsType[scanner.ErrorList](err); ok && p.ctx.Err() == nil {
		before := text[:faults[0].Pos.Offset]
		file, _ = parser.ParseFile(p.set, "", before[:max(bytes.LastIndex(before, []byte("\n\n")), 0)], mode)
	}
	return file
}

// goDepth returns the greatest number of brackets that are open at once, or of operators in a row, including those in
// literals.
func goDepth(text []byte) int {
	depth, operators, deepest := 0, 0, 0
	for _, c := range text {
		switch c {
		case '<', '-', '+', '*', '&', '!', '^', '~':
			operators++
			deepest = max(deepest, operators)
		case ' ', '\t', '\n', '[', ']':
		default:
			operators = 0
		}
		switch c {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}
