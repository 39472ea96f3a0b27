package golang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
)

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
