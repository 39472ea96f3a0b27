package golang

import "go/ast"

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
