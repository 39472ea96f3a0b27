package surface

import "bytes"

// jsLexer knows what a slash and an angle mean where they stand.
type jsLexer struct {
	*lexer
	noTags                 bool   // an element never closed: < begins none in this file
	inElement              bool   // the code that is read stands in an element
	slashes                []bool // which bytes from slashesFrom up to slashesTo begin regular expressions
	slashesFrom, slashesTo int
}

func (l *jsLexer) literal(of *lexer) int {
	l.lexer = of
	switch c := l.text[l.pos]; c {
	case '"', '\'':
		return l.plainQuote(c)
	case '`':
		return l.literalEnd(1, quoted{quote: "`", hole: "${", until: '}', lines: true, escapes: true})
	case '/':
		if !l.afterOperand() && l.at(1) != '>' && l.at(-1) != '<' {
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
	n := len(l.tokens) - 1
	if n < l.base {
		return false
	}
	t := l.tokens[n]
	text := string(l.text[t.start:t.stop])
	switch t.kind {
	case wordToken:
		return !isOperatorWord(text)
	case numberToken, literalToken:
		return true
	case closeToken:
		return text == "]" || text == ")" && !l.afterCondition(int(t.pair))
	}
	return false
}

func isOperatorWord(text string) bool {
	switch text {
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "else", "do", "yield",
		"await", "default", "extends":
		return true
	}
	return false
}

// afterCondition tells whether the parenthesis belongs to an if and the like.
func (l *jsLexer) afterCondition(open int) bool {
	if open <= l.base {
		return false
	}
	t := l.tokens[open-1]
	switch string(l.text[t.start:t.stop]) {
	case "if", "while", "for", "with":
		return t.kind == wordToken
	}
	return false
}

// regex is the end of a regular expression; 0 where the line has no such end.
func (l *jsLexer) regex() int {
	if l.pos < l.slashesTo && !l.slashes[l.pos-l.slashesFrom] {
		return 0
	}
	class := false
	for i := l.pos + 1; i < len(l.text) && l.text[i] != '\n'; i++ {
		switch l.text[i] {
		case '\\':
			if i++; i < len(l.text) && l.text[i] == '\n' {
				i = len(l.text)
			}
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				for i++; i < len(l.text) && isWordByte(l.text[i]); i++ {
				}
				return i
			}
		}
	}
	l.judgeSlashes()
	return 0
}

// judgeSlashes notes, where one slash of a line begins no expression, which of the others do. From the end backwards
// that takes one look at each byte.
func (l *jsLexer) judgeSlashes() {
	from, to := l.pos, l.pos+len(l.text[l.pos:])
	if i := bytes.IndexByte(l.text[from:], '\n'); i >= 0 {
		to = from + i
	}
	l.slashesFrom, l.slashesTo, l.slashes = from, to, make([]bool, to-from)
	var next, after [2]bool // whether an expression ends that goes on at the byte, or the one after: outside, within [ ]
	for i := to - 1; i >= from; i-- {
		here := next
		switch l.text[i] {
		case '\\':
			here = after
		case '[':
			here[0] = next[1]
		case ']':
			here[1] = next[0]
		case '/':
			l.slashes[i-from] = next[0]
			here[0] = true
		}
		next, after = here, next
	}
}

// beginsElement tells <a href> and <> from the type parameters of a function.
func (l *jsLexer) beginsElement() bool {
	i := l.pos + 1
	for i < len(l.text) && (isWordByte(l.text[i]) || l.text[i] == '.' || l.text[i] == '-' || l.text[i] == ':') {
		i++
	}
	name := l.text[l.pos+1 : i]
	rest := bytes.TrimLeft(l.text[i:min(len(l.text), i+200)], " \t\n")
	if len(rest) == 0 || len(name) == 0 && rest[0] != '>' || len(name) > 0 && isDigit(name[0]) {
		return false
	}
	if hasPrefix(rest, "extends ") {
		return false
	}
	if isCapital := len(name) > 0 && 'A' <= name[0] && name[0] <= 'Z'; isCapital && hasPrefix(rest, ">(") {
		return false
	}
	return isWordByte(rest[0]) || bytes.IndexByte([]byte(">/{"), rest[0]) >= 0
}

// element is the end of a JSX element with all that it holds. Where it does not close, what looked like one is code,
// in the whole file.
func (l *jsLexer) element() int {
	was, at := *l, *l.lexer
	depth, i := 0, l.pos
	for {
		step := 0
		i, step = l.elementTag(i)
		if depth += step; i < len(l.text) && !l.abort && depth <= 0 {
			return i
		}
		if i = l.children(i); i >= len(l.text) || l.abort {
			break
		}
	}
	*l, *l.lexer = was, at
	l.noTags, l.abort = true, l.inElement
	return 0
}

// elementTag passes over <a b={c}>, <a/> and </a>; step is how much deeper that is. The end of the text stands for
// what is no tag.
func (l *jsLexer) elementTag(i int) (end, step int) {
	step = 1
	if hasPrefix(l.text[i:], "</") {
		step = -1
		i++
	}
	for i++; i < len(l.text); {
		switch c := l.text[i]; {
		case c == '>':
			return i + 1, step
		case c == '/' && hasPrefix(l.text[i:], "/>"):
			return i + 2, 0
		case c == '{':
			i = l.within(i + 1)
		case c == '"' || c == '\'':
			close := bytes.IndexByte(l.text[i+1:], c)
			if close < 0 {
				return len(l.text), 0
			}
			i += close + 2
		case c == '<' && step == 1:
			i = l.typeArguments(i)
		case isWordByte(c), c <= ' ', bytes.IndexByte([]byte("=-:."), c) >= 0:
			i++
		default:
			return len(l.text), 0
		}
	}
	return i, 0
}

// typeArguments passes over the <...> behind the name of an element.
func (l *jsLexer) typeArguments(i int) int {
	depth := 0
	for j := i; j < min(len(l.text), i+longestSpan); j++ {
		switch l.text[j] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return len(l.text)
}

// children passes over text and {code} up to the next tag.
func (l *jsLexer) children(i int) int {
	for i < len(l.text) && l.text[i] != '<' && !l.abort {
		if l.text[i] == '{' {
			i = l.within(i + 1)
		} else {
			i++
		}
	}
	return i
}

// within reads the code in an element.
func (l *jsLexer) within(i int) int {
	start, was := l.pos, l.inElement
	l.inElement = true
	end := l.inner(i, '}')
	l.pos, l.inElement = start, was
	return end
}
