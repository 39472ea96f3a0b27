package golang

import (
	"go/ast"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// goWriter writes declarations on one line. It stops after a limit, because signatures are cut much earlier and types
// may nest without end.
type goWriter struct{ strings.Builder }

// put writes texts, expressions and lists of them in a row. It skips nil.
func (w *goWriter) put(parts ...any) {
	for _, part := range parts {
		if w.Len() >= 4*surface.SignatureRunes {
			return
		}
		switch p := part.(type) {
		case string:
			w.WriteString(p)
		case []*ast.Ident:
			putAll(w, p, ", ", func(n *ast.Ident) { w.put(n) })
		case []ast.Expr:
			putAll(w, p, ", ", func(e ast.Expr) { w.put(e) })
		case *ast.FieldList:
			if p != nil {
				putAll(w, p.List, ", ", w.field)
			}
		case ast.Expr:
			w.expr(p)
		}
	}
}

func putAll[T any](w *goWriter, list []T, separator string, put func(T)) {
	for i, item := range list {
		if i > 0 {
			w.put(separator)
		}
		put(item)
	}
}

func goFunction(d *ast.FuncDecl) string {
	var w goWriter
	w.put("func ")
	if d.Recv != nil {
		w.put("(", d.Recv, ") ")
	}
	w.put(d.Name)
	w.signature(d.Type)
	return w.String()
}

func goType(t *ast.TypeSpec) string {
	var w goWriter
	w.put("type ", t.Name)
	w.typeParams(t.TypeParams)
	w.put(" ")
	if t.Assign.IsValid() {
		w.put("= ")
	}
	w.put(t.Type)
	return w.String()
}

func (w *goWriter) typeParams(list *ast.FieldList) {
	if list != nil {
		w.put("[", list, "]")
	}
}

func (w *goWriter) signature(t *ast.FuncType) {
	w.typeParams(t.TypeParams)
	w.put("(", t.Params, ")")
	switch {
	case t.Results == nil || len(t.Results.List) == 0:
	case len(t.Results.List) == 1 && len(t.Results.List[0].Names) == 0:
		w.put(" ", t.Results.List[0].Type)
	default:
		w.put(" (", t.Results, ")")
	}
}

func (w *goWriter) field(f *ast.Field) {
	if len(f.Names) > 0 {
		w.put(f.Names, " ")
	}
	w.put(f.Type)
}

// members writes the exported part of a struct or interface.
func (w *goWriter) members(keyword string, list *ast.FieldList) {
	var shown []*ast.Field
	if list != nil {
		for _, f := range list.List {
			if kept := public(f); kept != nil {
				shown = append(shown, kept)
			}
		}
	}
	if len(shown) == 0 {
		w.put(keyword, "{}")
		return
	}
	w.put(keyword, " { ")
	putAll(w, shown, "; ", w.member)
	w.put(" }")
}

func (w *goWriter) member(f *ast.Field) {
	if method, ok := f.Type.(*ast.FuncType); ok && len(f.Names) == 1 && method.Func == 0 {
		w.put(f.Names[0])
		w.signature(method)
		return
	}
	w.field(f)
}

// public returns the field with its exported names, or nil if it has none.
func public(f *ast.Field) *ast.Field {
	if len(f.Names) == 0 {
		if name := typeName(f.Type); name != "" && !ast.IsExported(name) {
			return nil
		}
		return f
	}
	kept := *f
	if kept.Names = exported(f.Names); len(kept.Names) == 0 {
		return nil
	}
	return &kept
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
