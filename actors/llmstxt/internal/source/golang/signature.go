package golang

import (
	"cmp"
	"go/ast"
	gotoken "go/token"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var (
	remark   = lazyregexp.New(`(?s)(^|[ \t])(//[^\n]*|/\*.*?\*/)`)
	lineEnd  = lazyregexp.New(`([^\s(,{+|&=.])[ \t]*\n\s*([^\s)}])`)
	listEdge = lazyregexp.New(`(\() | ?, (\))`)
)

// text returns what stands between two places on one line, without comments. It is cut, because signatures are cut much
// earlier and types may nest without end.
func (p *goPackage) text(from, to gotoken.Pos) string {
	text := p.src[p.set.PositionFor(from, false).Offset:p.set.PositionFor(to, false).Offset]
	text = text[:min(len(text), 8*surface.SignatureRunes)]
	text = lineEnd.ReplaceAll(remark.ReplaceAll(text, nil), []byte("$1; $2"))
	return listEdge.ReplaceAllString(prose.Tidy(string(text)), "$1$2")
}

func (p *goPackage) node(n ast.Node) string { return p.text(n.Pos(), n.End()) }

// typeOf returns a type. Of structs and interfaces it shows the exported part.
func (p *goPackage) typeOf(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StructType:
		return p.members("struct", t.Fields)
	case *ast.InterfaceType:
		return p.members("interface", t.Methods)
	}
	return p.node(t)
}

func (p *goPackage) members(keyword string, list *ast.FieldList) string {
	var shown []string
	for _, f := range list.List {
		name, names := typeName(f.Type), joined(exported(f.Names))
		switch method, ok := f.Type.(*ast.FuncType); {
		case len(f.Names) == 0 && name != "" && !ast.IsExported(name), len(f.Names) > 0 && names == "":
		case names == "":
			shown = append(shown, p.node(f.Type))
		case ok && method.Func == 0: // a method of an interface
			shown = append(shown, names+p.node(method))
		default:
			shown = append(shown, names+" "+p.typeOf(f.Type))
		}
	}
	if len(shown) == 0 {
		return keyword + "{}"
	}
	return keyword + " { " + strings.Join(shown, "; ") + " }"
}

func exported(names []*ast.Ident) []*ast.Ident {
	var kept []*ast.Ident
	for _, n := range names {
		if n.IsExported() {
			kept = append(kept, n)
		}
	}
	return kept
}

func joined(names []*ast.Ident) string {
	var list []string
	for _, n := range names {
		list = append(list, n.Name)
	}
	return strings.Join(list, ", ")
}

// valueOf returns a value as far as it is informative. Elements and bodies become "…".
func (p *goPackage) valueOf(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.CompositeLit:
		if t.Type == nil {
			return "{…}"
		}
		return p.node(t.Type) + "{…}"
	case *ast.FuncLit:
		return p.node(t.Type) + " {…}"
	case *ast.UnaryExpr:
		return t.Op.String() + p.valueOf(t.X)
	case *ast.CallExpr:
		var args []string
		for _, a := range t.Args {
			args = append(args, p.valueOf(a))
		}
		return p.node(t.Fun) + "(" + strings.Join(args, ", ") + ")"
	}
	return p.node(e)
}

// values adds the exported constants or variables of a declaration. A documented one is a separate symbol. A run of
// names without docs is one symbol with the first name, because such names are read together.
func (p *goPackage) values(path string, d *ast.GenDecl) {
	var run []*ast.ValueSpec
	flush := func() {
		if len(run) > 0 {
			p.run(path, d, run)
			run = nil
		}
	}
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(exported(v.Names)) == 0 {
			continue
		}
		if v.Doc == nil && v.Comment == nil && d.Lparen.IsValid() {
			run = append(run, v)
			continue
		}
		flush()
		p.run(path, d, []*ast.ValueSpec{v})
	}
	flush()
}

// run adds neighbouring constants or variables as one symbol. Each of the specs has an exported name.
func (p *goPackage) run(path string, d *ast.GenDecl, specs []*ast.ValueSpec) {
	v := specs[0]
	s := surface.Symbol{Name: exported(v.Names)[0].Name, Kind: surface.Constant}
	if d.Tok == gotoken.VAR {
		s.Kind = surface.Variable
	}
	doc := cmp.Or(v.Doc.Text(), single(d), v.Comment.Text())
	var values []string
	for _, v := range specs {
		values = append(values, p.value(v))
	}
	s.Signature = d.Tok.String() + " " + strings.Join(values, "; ")
	if len(specs) > 1 {
		doc = d.Doc.Text()
		s.Signature = d.Tok.String() + " ( " + strings.Join(values, "; ") + " )"
	}
	p.add(path, v.Names[0].Pos(), doc, s)
}

// value returns the exported names of a spec, its type, and its value if there is only one name.
func (p *goPackage) value(v *ast.ValueSpec) string {
	s := joined(exported(v.Names))
	if v.Type != nil {
		s += " " + p.typeOf(v.Type)
	}
	if len(v.Values) == 1 && len(v.Names) == 1 {
		s += " = " + p.valueOf(v.Values[0])
	}
	return s
}
