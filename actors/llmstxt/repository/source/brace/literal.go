package brace

import "strings"

// Quoted says how a kind of literal is written.
type Quoted struct {
	Quote   string // what ends it
	Hole    string // what begins code within it, "${"; "" for none
	Until   byte   // what ends that code
	Twice   bool   // a hole's mark that is doubled stands for itself
	Lines   bool   // it runs over lines
	Escapes bool   // a backslash takes the next byte with it
	Doubled bool   // a doubled quote stands for itself
}

// LiteralEnd is the end of the literal whose content begins so many bytes ahead. One that may not run over lines ends
// with its line.
func (l *Lexer) LiteralEnd(ahead int, q Quoted) int {
	i := l.Pos + ahead
	for i < len(l.Text) {
		rest := l.Text[i:]
		switch c := rest[0]; {
		case q.Hole != "" && HasPrefix(rest, q.Hole):
			i = l.hole(i, q)
		case c == '\\' && q.Escapes:
			i += 2
		case HasPrefix(rest, q.Quote):
			i += len(q.Quote)
			if !q.Doubled || !HasPrefix(l.Text[i:], q.Quote) {
				return i
			}
			i += len(q.Quote)
		case c == '\n' && !q.Lines:
			return i
		default:
			i++
		}
	}
	return len(l.Text)
}

func HasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// hole passes over the code within a literal that begins at i.
func (l *Lexer) hole(i int, q Quoted) int {
	if q.Twice && HasPrefix(l.Text[i+len(q.Hole):], q.Hole) {
		return i + 2*len(q.Hole)
	}
	start := l.Pos
	end := l.Inner(i+len(q.Hole), q.Until)
	l.Pos = start
	return min(end+strings.Count(q.Hole, string(opener(q.Until)))-1, len(l.Text))
}

// Inner reads code that stands within a literal or element, up to and with the closing byte, and gives where it ends.
// Its tokens are not kept.
func (l *Lexer) Inner(at int, until byte) int {
	if l.depth >= deepestHole {
		return at
	}
	was := *l
	l.depth++
	l.Pos, l.floor, l.Base = at, len(l.open), len(l.Tokens)
	l.code(until)
	end := l.Pos + 1
	l.Tokens, l.notes, l.open = l.Tokens[:l.Base], l.notes[:len(was.notes)], l.open[:l.floor]
	l.depth, l.floor, l.Base, l.branches = was.depth, was.floor, was.Base, was.branches
	return min(end, len(l.Text))
}

// PlainQuote reads the literals that most of the languages share: "text" and, where characters are literals, 'c'.
func (l *Lexer) PlainQuote(c byte) int {
	switch c {
	case '"':
		return l.LiteralEnd(1, Quoted{Quote: `"`, Escapes: true})
	case '\'':
		return l.LiteralEnd(1, Quoted{Quote: `'`, Escapes: true})
	}
	return 0
}

// Run counts how often the byte stands so far ahead, up to what literals use.
func (l *Lexer) Run(ahead int, c byte) int {
	n := 0
	for n < LongestMark && l.At(ahead+n) == c {
		n++
	}
	return n
}

// No language lets a literal begin with more marks.
const LongestMark = 255
