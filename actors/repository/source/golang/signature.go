package golang

import (
	"go/ast"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// goWriter writes declarations on one line. Past a bound it writes no more: a signature is cut much earlier, and
// types nest without end.
type goWriter struct{ strings.Builder }

func (w *goWriter) text(s string) {
	if w.Len() < 4*surface.SignatureRunes {
		w.WriteString(s)
	}
}

func goFunction(d *ast.FuncDecl) string {
	var w goWriter
	w.text("func ")
	if d.Recv != nil {
		w.text("(")
		w.fields(d.Recv, ", ")
		w.text(") ")
	}
	w.text(d.Name.Name)
	w.signature(d.Type)
	return w.String()
}

func goType(t *ast.TypeSpec) string {
	var w goWriter
	w.text("type " + t.Name.Name)
	w.typeParams(t.TypeParams)
	w.text(" ")
	if t.Assign.IsValid() {
		w.text("= ")
	}
	w.expr(t.Type)
	return w.String()
}

func (w *goWriter) typeParams(list *ast.FieldList) {
	if list != nil {
		w.text("[")
		w.fields(list, ", ")
		w.text("]")
	}
}

func (w *goWriter) signature(t *ast.FuncType) {
	w.typeParams(t.TypeParams)
	w.text("(")
	w.fields(t.Params, ", ")
	w.text(")")
	if t.Results == nil || len(t.Results.List) == 0 {
		return
	}
	if len(t.Results.List) == 1 && len(t.Results.List[0].Names) == 0 {
		w.text(" ")
		w.expr(t.Results.List[0].Type)
		return
	}
	w.text(" (")
	w.fields(t.Results, ", ")
	w.text(")")
}

func (w *goWriter) fields(list *ast.FieldList, separator string) {
	if list == nil {
		return
	}
	for i, f := range list.List {
		if i > 0 {
			w.text(separator)
		}
		w.field(f)
	}
}

func (w *goWriter) field(f *ast.Field) {
	for i, n := range f.Names {
		if i > 0 {
			w.text(", ")
		}
		w.text(n.Name)
	}
	if len(f.Names) > 0 {
		w.text(" ")
	}
	w.expr(f.Type)
}

// members writes what others can use of a struct or interface.
func (w *goWriter) members(keyword string, list *ast.FieldList) {
	w.text(keyword)
	var shown []*ast.Field
	if list != nil {
		for _, f := range list.List {
			if kept := public(f); kept != nil {
				shown = append(shown, kept)
			}
		}
	}
	if len(shown) == 0 {
		w.text("{}")
		return
	}
	w.text(" { ")
	for i, f := range shown {
		if i > 0 {
			w.text("; ")
		}
		w.member(f)
	}
	w.text(" }")
}

func (w *goWriter) member(f *ast.Field) {
	if method, ok := f.Type.(*ast.FuncType); ok && len(f.Names) == 1 && method.Func == 0 {
		w.text(f.Names[0].Name)
		w.signature(method)
		return
	}
	w.field(f)
}

func public(f *ast.Field) *ast.Field {
	if len(f.Names) == 0 {
		if name := receiver(&ast.FieldList{List: []*ast.Field{f}}); name != "" && !ast.IsExported(name) {
			return nil
		}
		return f
	}
	kept := *f
	kept.Names = nil
	for _, n := range f.Names {
		if n.IsExported() {
			kept.Names = append(kept.Names, n)
		}
	}
	if len(kept.Names) == 0 {
		return nil
	}
	return &kept
}
