package golang

import (
	"cmp"
	"go/ast"
	gotoken "go/token"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// values adds the exported constants or variables of a declaration. A documented one is a symbol of its own. A run of
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

func (p *goPackage) run(path string, d *ast.GenDecl, specs []*ast.ValueSpec) {
	v := specs[0]
	s := surface.Symbol{Name: exported(v.Names)[0].Name, Kind: surface.Constant}
	if d.Tok == gotoken.VAR {
		s.Kind = surface.Variable
	}
	doc := cmp.Or(v.Doc.Text(), single(d), v.Comment.Text())
	var w goWriter
	w.put(d.Tok.String(), " ")
	if len(specs) == 1 {
		w.value(v)
	} else {
		doc = d.Doc.Text()
		w.put("( ")
		putAll(&w, specs, "; ", w.value)
		w.put(" )")
	}
	s.Signature = w.String()
	p.add(path, v.Names[0].Pos(), doc, s)
}

func (w *goWriter) value(v *ast.ValueSpec) {
	w.put(exported(v.Names))
	if v.Type != nil {
		w.put(" ", v.Type)
	}
	if len(v.Values) == 1 && len(v.Names) == 1 {
		w.put(" = ", v.Values[0])
	}
}
