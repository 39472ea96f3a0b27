package golang

import (
	"go/ast"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// expr writes types in full and values as far as they say what they are.
func (w *goWriter) expr(e ast.Expr) {
	if w.Len() >= 4*surface.SignatureRunes {
		return
	}
	switch t := e.(type) {
	case *ast.Ident:
		w.text(t.Name)
	case *ast.BasicLit:
		w.text(t.Value)
	case *ast.SelectorExpr:
		w.expr(t.X)
		w.text("." + t.Sel.Name)
	case *ast.StarExpr:
		w.text("*")
		w.expr(t.X)
	case *ast.ParenExpr:
		w.text("(")
		w.expr(t.X)
		w.text(")")
	case *ast.UnaryExpr:
		w.text(t.Op.String())
		w.expr(t.X)
	case *ast.BinaryExpr:
		w.expr(t.X)
		w.text(" " + t.Op.String() + " ")
		w.expr(t.Y)
	case *ast.FuncType:
		w.text("func")
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
		w.text("[")
		w.expr(t.Len)
		w.text("]")
		w.expr(t.Elt)
	case *ast.MapType:
		w.text("map[")
		w.expr(t.Key)
		w.text("]")
		w.expr(t.Value)
	case *ast.ChanType:
		w.text(channel(t.Dir))
		w.expr(t.Value)
	case *ast.Ellipsis:
		w.text("...")
		w.expr(t.Elt)
	case *ast.IndexExpr:
		w.list(t.X, "[", []ast.Expr{t.Index}, "]")
	case *ast.IndexListExpr:
		w.list(t.X, "[", t.Indices, "]")
	case *ast.CallExpr:
		w.list(t.Fun, "(", t.Args, ")")
	case *ast.CompositeLit:
		w.expr(t.Type)
		w.text("{…}")
	case *ast.FuncLit:
		w.expr(t.Type)
		w.text(" {…}")
	case *ast.SliceExpr:
		w.expr(t.X)
		w.text("[…]")
	case *ast.TypeAssertExpr:
		w.expr(t.X)
	}
}

func (w *goWriter) list(of ast.Expr, open string, items []ast.Expr, end string) {
	w.expr(of)
	w.text(open)
	for i, e := range items {
		if i > 0 {
			w.text(", ")
		}
		w.expr(e)
	}
	w.text(end)
}

func channel(dir ast.ChanDir) string {
	switch dir {
	case ast.SEND:
		return "chan<- "
	case ast.RECV:
		return "<-chan "
	}
	return "chan "
}
