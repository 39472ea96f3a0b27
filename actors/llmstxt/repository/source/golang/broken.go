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
	p.short = withoutBodies(append(p.short[:0], text...))
	file, err := parser.ParseFile(p.set, "", p.short, mode)
	if err != nil && p.ctx.Err() == nil {
		file, err = parser.ParseFile(p.set, "", text, mode)
	}
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

// withoutBodies blanks the bodies of functions in place and keeps the lines, if the text is formatted by gofmt. It
// does not touch what may be in a raw string or contains part of one. For other text the result may not parse.
func withoutBodies(text []byte) []byte {
	ticks := 0
	for at := 0; at < len(text); {
		from := at
		end := endOfLine(text, at)
		if isFunc := bytes.HasPrefix(text[at:end], []byte("func ")); isFunc && ticks%2 == 0 {
			if end = signatureEnd(text, at, end); opensBody(text[from:end]) {
				last := bytes.Index(text[end:], []byte("\n}\n"))
				if last < 0 {
					return text
				}
				if body := text[end : end+last]; bytes.IndexByte(body, '`') < 0 {
					blank(body)
				}
				end += last + 2
			}
		}
		ticks += bytes.Count(text[from:min(end, len(text))], []byte("`"))
		at = end + 1
	}
	return text
}

// signatureEnd returns the end of the line on which a function's body opens.
func signatureEnd(text []byte, at, end int) int {
	for text[end-1] != '{' && end < len(text) && (text[end-1] == '(' || text[at] == '\t') {
		at = end + 1
		end = endOfLine(text, at)
		if end == at {
			return end
		}
	}
	return end
}

// opensBody reports whether the brace opens a body, rather than a type.
func opensBody(signature []byte) bool {
	return bytes.HasSuffix(signature, []byte("{")) && !bytes.HasSuffix(signature, []byte("interface {")) &&
		!bytes.HasSuffix(signature, []byte("struct {"))
}

func endOfLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[min(at, len(text)):], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// blank overwrites text, except line ends.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
