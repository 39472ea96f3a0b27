package golang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
)

// The parser heeds no context, and its stack grows with the brackets that are open and with the operators before an
// operand. So it is given no longer text, and none that nests deeper.
const (
	maxGoBytes = 512 << 10
	deepestGo  = 1000
)

// parseFile parses a file. Of one that is broken it takes what stands before the broken declaration: the parser takes
// the next one for its end.
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

// goDepth is how many brackets are open at once, or operators follow each other, those in literals included.
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

// withoutBodies empties the bodies of functions in place, lines kept, where the text is formatted as Go is. What may
// be in a raw string, or holds part of one, is left as it is. What it makes of other text may not parse.
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

// signatureEnd is the end of the line on which a function's body opens.
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

// opensBody tells the brace of a body from that of a type.
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

// blank overwrites text, but not its line ends.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
