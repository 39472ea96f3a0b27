package manifest

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// syntax says as much of a language as is needed to find its literals.
type syntax struct {
	line   []string // starts of comments that end with their line
	block  bool     // has /* comments */
	quotes string
	triple bool   // has """ and '''
	words  string // what belongs to words besides letters, digits and _
}

type kind uint8

const (
	word kind = iota + 1
	str
	mark // one byte of punctuation
)

type token struct {
	kind kind
	text string
	line int
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// tokens of a program that are looked at.
const mostTokens = 200_000

// lex splits a program into words, string literals and marks. It never fails: a literal without an end ends with its
// line, or with the text if triple quoted.
func lex(text string, s syntax) []token {
	l := &lexer{s: text, syntax: s, line: 1}
	for l.i < len(l.s) && len(l.toks) < mostTokens {
		l.step()
	}
	return l.toks
}

type lexer struct {
	s      string
	i      int
	line   int
	syntax syntax
	toks   []token
}

func (l *lexer) step() {
	c := l.s[l.i]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		l.skip(1)
	case l.isLineComment():
		l.skip(lengthTo(l.s[l.i:], "\n"))
	case l.syntax.block && strings.HasPrefix(l.s[l.i:], "/*"):
		l.skip(lengthTo(l.s[l.i:], "*/"))
	case strings.IndexByte(l.syntax.quotes, c) >= 0:
		l.str(c)
	case l.isWord(c):
		l.word()
	default:
		l.toks = append(l.toks, token{mark, l.s[l.i : l.i+1], l.line})
		l.skip(1)
	}
}

func (l *lexer) skip(n int) {
	n = min(n, len(l.s)-l.i)
	l.line += strings.Count(l.s[l.i:l.i+n], "\n")
	l.i += n
}

func lengthTo(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

func (l *lexer) isLineComment() bool {
	return prose.StartsWithAny(l.s[l.i:], l.syntax.line...)
}

func (l *lexer) isWord(c byte) bool {
	return isWordRune(rune(c)) || strings.IndexByte(l.syntax.words, c) >= 0
}

func (l *lexer) word() {
	start := l.i
	for l.i < len(l.s) && l.isWord(l.s[l.i]) {
		l.i++
	}
	l.toks = append(l.toks, token{word, l.s[start:l.i], l.line})
}

func (l *lexer) str(quote byte) {
	t := token{kind: str, line: l.line}
	fence := strings.Repeat(string(quote), 3)
	if l.syntax.triple && strings.HasPrefix(l.s[l.i:], fence) {
		body := l.s[l.i+3:]
		n := lengthTo(body, fence)
		t.text = strings.TrimSuffix(body[:n], fence)
		l.skip(3 + n)
	} else {
		end := l.closing(quote)
		t.text = dropEscapes(l.s[l.i+1 : end])
		l.skip(end - l.i + 1)
	}
	l.toks = append(l.toks, t)
}

// closing is the index of the quote that ends the literal, or of its line's end.
func (l *lexer) closing(quote byte) int {
	for i := l.i + 1; i < len(l.s); i++ {
		switch l.s[i] {
		case quote, '\n':
			return i
		case '\\':
			if i+1 < len(l.s) && l.s[i+1] != '\n' {
				i++
			}
		}
	}
	return len(l.s)
}

// dropEscapes drops the backslash of escapes; a line break becomes a space.
func dropEscapes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, "", `\\`, `\`, `\`, "").Replace(s)
}

// arguments splits what follows an opening bracket into the tokens of each named argument, up to its closing one. sep
// stands between name and value.
func arguments(toks []token, sep string) map[string][]token {
	args := make(map[string][]token)
	level, key := 0, ""
	for i, t := range toks {
		switch {
		case t.kind == mark && strings.Contains("([{", t.text):
			level++
		case t.kind == mark && strings.Contains(")]}", t.text):
			if level--; level < 0 {
				return args
			}
		case level == 0 && t.is(mark, ","):
			key = ""
			continue
		case level == 0 && key == "" && t.kind == word && i+1 < len(toks) && toks[i+1].is(mark, sep):
			key = t.text
			continue
		case level == 0 && t.is(mark, sep) && len(args[key]) == 0:
			continue
		}
		if key != "" {
			args[key] = append(args[key], t)
		}
	}
	return args
}

// group is the tokens between the bracket at toks[i] and the one that closes it.
func group(toks []token, i int) []token {
	level := 0
	for j := i; j < len(toks); j++ {
		if toks[j].kind != mark {
			continue
		}
		switch toks[j].text {
		case "(", "[", "{":
			level++
		case ")", "]", "}":
			if level--; level == 0 {
				return toks[i+1 : j]
			}
		}
	}
	return toks[min(i+1, len(toks)):]
}

// strs are the string literals among toks.
func strs(toks []token) []string {
	var out []string
	for _, t := range toks {
		if t.kind == str {
			out = append(out, t.text)
		}
	}
	return out
}
