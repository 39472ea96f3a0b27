package surface

import "strings"

// quoted says how a kind of literal is written.
type quoted struct {
	quote   string // what ends it
	hole    string // what begins code within it, "${"; "" for none
	until   byte   // what ends that code
	twice   bool   // a hole's mark that is doubled stands for itself
	lines   bool   // it runs over lines
	escapes bool   // a backslash takes the next byte with it
	doubled bool   // a doubled quote stands for itself
}

// literalEnd is the end of the literal whose content begins so many bytes ahead. One that may not run over lines ends
// with its line.
func (l *lexer) literalEnd(ahead int, q quoted) int {
	i := l.pos + ahead
	for i < len(l.text) {
		rest := l.text[i:]
		switch c := rest[0]; {
		case q.hole != "" && hasPrefix(rest, q.hole):
			i = l.hole(i, q)
		case c == '\\' && q.escapes:
			i += 2
		case hasPrefix(rest, q.quote):
			i += len(q.quote)
			if !q.doubled || !hasPrefix(l.text[i:], q.quote) {
				return i
			}
			i += len(q.quote)
		case c == '\n' && !q.lines:
			return i
		default:
			i++
		}
	}
	return len(l.text)
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// hole passes over the code within a literal that begins at i.
func (l *lexer) hole(i int, q quoted) int {
	if q.twice && hasPrefix(l.text[i+len(q.hole):], q.hole) {
		return i + 2*len(q.hole)
	}
	start := l.pos
	end := l.inner(i+len(q.hole), q.until)
	l.pos = start
	return min(end+strings.Count(q.hole, string(opener(q.until)))-1, len(l.text))
}

// inner reads code that stands within a literal or element, up to and with the closing byte, and gives where it ends.
// Its tokens are not kept.
func (l *lexer) inner(at int, until byte) int {
	if l.depth >= deepestHole {
		return at
	}
	was := *l
	l.depth++
	l.pos, l.floor, l.base = at, len(l.open), len(l.tokens)
	l.code(until)
	end := l.pos + 1
	l.tokens, l.notes, l.open = l.tokens[:l.base], l.notes[:len(was.notes)], l.open[:l.floor]
	l.depth, l.floor, l.base, l.branches = was.depth, was.floor, was.base, was.branches
	return min(end, len(l.text))
}

// plainQuote reads the literals that most of the languages share: "text" and, where characters are literals, 'c'.
func (l *lexer) plainQuote(c byte) int {
	switch c {
	case '"':
		return l.literalEnd(1, quoted{quote: `"`, escapes: true})
	case '\'':
		return l.literalEnd(1, quoted{quote: `'`, escapes: true})
	}
	return 0
}

// textBlock reads """text""", over lines.
func (l *lexer) textBlock(hole string, until byte, escapes bool) int {
	return l.literalEnd(3, quoted{quote: `"""`, hole: hole, until: until, lines: true, escapes: escapes})
}

// run counts how often the byte stands so far ahead, up to what literals use.
func (l *lexer) run(ahead int, c byte) int {
	n := 0
	for n < longestMark && l.at(ahead+n) == c {
		n++
	}
	return n
}

// No language lets a literal begin with more marks.
const longestMark = 255
