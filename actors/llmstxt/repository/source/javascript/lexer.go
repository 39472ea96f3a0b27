package javascript

import (
	"bytes"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"
)

// jsLexer knows what a slash and an angle mean where they stand.
type jsLexer struct {
	*brace.Lexer
	noTags    bool // an element never closed: < begins none in this file
	inElement bool // the code that is read stands in an element
	noRegex   int  // no regular expression begins before this byte
}

func (l *jsLexer) literal(of *brace.Lexer) int {
	l.Lexer = of
	switch c := l.Text[l.Pos]; c {
	case '"', '\'':
		return l.PlainQuote(c)
	case '`':
		return l.LiteralEnd(1, brace.Quoted{Quote: "`", Hole: "${", Until: '}', Lines: true, Escapes: true})
	case '/':
		if !l.afterOperand() && l.At(1) != '>' && l.At(-1) != '<' {
			return l.regex()
		}
	case '<':
		if !l.noTags && !l.afterOperand() && l.beginsElement() {
			return l.element()
		}
	}
	return 0
}

// afterOperand tells whether the token before ends a value, so that a slash divides and an angle compares.
func (l *jsLexer) afterOperand() bool {
	n := len(l.Tokens) - 1
	if n < l.Base {
		return false
	}
	t := l.Tokens[n]
	text := string(l.Text[t.Start:t.Stop])
	switch t.Kind {
	case brace.WordToken:
		return !isOperatorWord(text)
	case brace.NumberToken, brace.LiteralToken:
		return true
	case brace.CloseToken:
		return text == "]" || text == ")" && !l.afterCondition(int(t.Pair))
	}
	return false
}

func isOperatorWord(text string) bool {
	switch text {
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "else", "do",
		"yield", "await", "default", "extends":
		return true
	}
	return false
}

// afterCondition tells whether the parenthesis belongs to an if and the like.
func (l *jsLexer) afterCondition(open int) bool {
	if open <= l.Base {
		return false
	}
	t := l.Tokens[open-1]
	switch string(l.Text[t.Start:t.Stop]) {
	case "if", "while", "for", "with":
		return t.Kind == brace.WordToken
	}
	return false
}

// regex is the end of a regular expression; 0 where the line has no such end. No other is looked for in such a line,
// so that one with many slashes takes linear time.
func (l *jsLexer) regex() int {
	if l.Pos < l.noRegex {
		return 0
	}
	class, i := false, l.Pos+1
	for ; i < len(l.Text) && l.Text[i] != '\n'; i++ {
		switch l.Text[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1 + brace.WordLength(l.Text[i+1:])
			}
		}
	}
	l.noRegex = i
	return 0
}

// beginsElement tells <a href> and <> from the type parameters of a function.
func (l *jsLexer) beginsElement() bool {
	i := l.Pos + 1
	for i < len(l.Text) && (brace.IsWordByte(l.Text[i]) || l.Text[i] == '.' || l.Text[i] == '-' || l.Text[i] == ':') {
		i++
	}
	name := l.Text[l.Pos+1 : i]
	rest := bytes.TrimLeft(l.Text[i:min(len(l.Text), i+200)], " \t\n")
	if len(rest) == 0 || len(name) == 0 && rest[0] != '>' || len(name) > 0 && brace.IsDigit(name[0]) {
		return false
	}
	if brace.HasPrefix(rest, "extends ") {
		return false
	}
	if isCapital := len(name) > 0 && 'A' <= name[0] && name[0] <= 'Z'; isCapital && brace.HasPrefix(rest, ">(") {
		return false
	}
	return brace.IsWordByte(rest[0]) || bytes.IndexByte([]byte(">/{"), rest[0]) >= 0
}

// element is the end of a JSX element with all that it holds. Where it does not close, what looked like one is code,
// in the whole file.
func (l *jsLexer) element() int {
	was, at := *l, *l.Lexer
	depth, i := 0, l.Pos
	for {
		step := 0
		i, step = l.elementTag(i)
		if depth += step; i < len(l.Text) && !l.Abort && depth <= 0 {
			return i
		}
		if i = l.children(i); i >= len(l.Text) || l.Abort {
			break
		}
	}
	*l, *l.Lexer = was, at
	l.noTags, l.Abort = true, l.inElement
	return 0
}

// elementTag passes over <a b={c}>, <a/> and </a>; step is how much deeper that is. The end of the text stands for
// what is no tag.
func (l *jsLexer) elementTag(i int) (end, step int) {
	step = 1
	if brace.HasPrefix(l.Text[i:], "</") {
		step = -1
		i++
	}
	for i++; i < len(l.Text); {
		switch c := l.Text[i]; {
		case c == '>':
			return i + 1, step
		case c == '/' && brace.HasPrefix(l.Text[i:], "/>"):
			return i + 2, 0
		case c == '{':
			i = l.within(i + 1)
		case c == '"', c == '\'', c == '<' && step == 1:
			if c == '<' { // type arguments
				c = '>'
			}
			close := bytes.IndexByte(l.Text[i+1:], c)
			if close < 0 {
				return len(l.Text), 0
			}
			i += close + 2
		case brace.IsWordByte(c), c <= ' ', bytes.IndexByte([]byte("=-:."), c) >= 0:
			i++
		default:
			return len(l.Text), 0
		}
	}
	return i, 0
}

// children passes over text and {code} up to the next tag.
func (l *jsLexer) children(i int) int {
	for i < len(l.Text) && l.Text[i] != '<' && !l.Abort {
		if l.Text[i] == '{' {
			i = l.within(i + 1)
		} else {
			i++
		}
	}
	return i
}

// within reads the code in an element.
func (l *jsLexer) within(i int) int {
	start, was := l.Pos, l.inElement
	l.inElement = true
	end := l.Inner(i, '}')
	l.Pos, l.inElement = start, was
	return end
}
