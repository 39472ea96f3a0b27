package golang

import (
	"cmp"
	"go/ast"
	gotoken "go/token"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// values gives the exported constants or variables of a declaration: one symbol each where it is documented, one for
// a run of names without words of their own, named after the first, since those are read together.
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
		if !ok || len(exported(v)) == 0 {
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

func (p *goPackage) run(path string, d *ast.GenDecl, specs []*ast.ValueSpec) {
	v := specs[0]
	s := surface.Symbol{Name: exported(v)[0], Kind: surface.Constant}
	if d.Tok == gotoken.VAR {
		s.Kind = surface.Variable
	}
	var b goWriter
	b.text(d.Tok.String() + " ")
	if len(specs) > 1 {
		b.text("( ")
	}
	for i, spec := range specs {
		if i > 0 {
			b.text("; ")
		}
		b.value(spec)
	}
	if len(specs) > 1 {
		b.text(" )")
	}
	s.Signature = b.String()
	doc := cmp.Or(v.Doc.Text(), single(d), v.Comment.Text())
	if len(specs) > 1 {
		doc = d.Doc.Text()
	}
	p.add(path, v.Names[0].Pos(), doc, s)
}

func exported(v *ast.ValueSpec) []string {
	var names []string
	for _, n := range v.Names {
		if n.IsExported() {
			names = append(names, n.Name)
		}
	}
	return names
}

func (w *goWriter) value(v *ast.ValueSpec) {
	w.text(strings.Join(exported(v), ", "))
	if v.Type != nil {
		w.text(" ")
		w.expr(v.Type)
	}
	if len(v.Values) == len(v.Names) && len(v.Names) == 1 {
		w.text(" = ")
		w.expr(v.Values[0])
	}
}
