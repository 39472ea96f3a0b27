package golang

import (
	"cmp"
	"go/ast"
	gotoken "go/token"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
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

// signature writes type parameters, parameters and results, without the word func.
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
			if exported := public(f); exported != nil {
				shown = append(shown, exported)
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

// member writes a field, or the method of an interface, whose type has no word func of its own.
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

// expr writes types completely, and values as far as they are informative.
func (w *goWriter) expr(e ast.Expr) {
	switch t := e.(type) {
	case *ast.Ident:
		w.put(t.Name)
	case *ast.BasicLit:
		w.put(t.Value)
	case *ast.SelectorExpr:
		w.put(t.X, ".", t.Sel)
	case *ast.StarExpr:
		w.put("*", t.X)
	case *ast.ParenExpr:
		w.put("(", t.X, ")")
	case *ast.UnaryExpr:
		w.put(t.Op.String(), t.X)
	case *ast.BinaryExpr:
		w.put(t.X, " "+t.Op.String()+" ", t.Y)
	case *ast.FuncType:
		w.put("func")
		w.signature(t)
	case *ast.StructType:
		w.members("struct", t.Fields)
	case *ast.InterfaceType:
		w.members("interface", t.Methods)
	default:
		w.composed(e)
	}
}

// composed writes the expressions that consist of others. Elements and bodies become "…".
func (w *goWriter) composed(e ast.Expr) {
	switch t := e.(type) {
	case *ast.ArrayType:
		w.put("[", t.Len, "]", t.Elt)
	case *ast.MapType:
		w.put("map[", t.Key, "]", t.Value)
	case *ast.ChanType:
		w.put(channels[t.Dir], t.Value)
	case *ast.Ellipsis:
		w.put("...", t.Elt)
	case *ast.IndexExpr:
		w.put(t.X, "[", t.Index, "]")
	case *ast.IndexListExpr:
		w.put(t.X, "[", t.Indices, "]")
	case *ast.CallExpr:
		w.put(t.Fun, "(", t.Args, ")")
	case *ast.CompositeLit:
		w.put(t.Type, "{…}")
	case *ast.FuncLit:
		w.put(t.Type, " {…}")
	case *ast.SliceExpr:
		w.put(t.X, "[…]")
	case *ast.TypeAssertExpr:
		w.put(t.X)
	}
}

var channels = map[ast.ChanDir]string{ast.SEND: "chan<- ", ast.RECV: "<-chan ", ast.SEND | ast.RECV: "chan "}

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

// run adds neighbouring constants or variables as one symbol. Each of the specs has an exported name.
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

// value writes the exported names of a spec, its type, and its value if there is only one name.
func (w *goWriter) value(v *ast.ValueSpec) {
	w.put(exported(v.Names))
	if v.Type != nil {
		w.put(" ", v.Type)
	}
	if len(v.Values) == 1 && len(v.Names) == 1 {
		w.put(" = ", v.Values[0])
	}
}
