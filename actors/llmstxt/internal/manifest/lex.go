package manifest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

// syntax describes a language as far as is needed to find its literals.
type syntax struct {
	line   []string // starts of comments that end with their line
	block  bool     // has /* comments */
	quotes string
	triple bool   // has """ and '''
	lines  bool   // literals may span lines
	words  string // characters of words besides letters, digits and _
}

type kind uint8

const (
	word kind = iota + 1
	str
	mark // one byte of punctuation
)

// token is a word, a string literal or a mark of a program.
type token struct {
	kind kind
	text string
	line int
	deep int // number of open brackets around it; the brackets of a pair have the same number
}

// is reports whether the token is this word or mark.
func (t token) is(text string) bool { return t.kind != str && t.text == text }

// tokens may be indexed beyond their ends with at, which then returns a token without a kind.
type tokens []token

func (toks tokens) at(i int) token {
	if i < 0 || i >= len(toks) {
		return token{}
	}
	return toks[i]
}

// past returns the token at i, or the next one if that is one of the marks.
func (toks tokens) past(i int, marks string) token {
	if t := toks.at(i); t.kind == mark && strings.Contains(marks, t.text) {
		i++
	}
	return toks.at(i)
}

// literal returns the text of the string literal at i, or "".
func (toks tokens) literal(i int) string {
	if t := toks.at(i); t.kind == str {
		return t.text
	}
	return ""
}

// has reports whether the words and marks begin at i.
func (toks tokens) has(i int, texts ...string) bool {
	for k, text := range texts {
		if !toks.at(i + k).is(text) {
			return false
		}
	}
	return true
}

// find returns the first index where the words and marks begin, or -1.
func (toks tokens) find(texts ...string) int {
	for i := range toks {
		if toks.has(i, texts...) {
			return i
		}
	}
	return -1
}

// group returns the tokens between the bracket at i and its closing bracket.
func (toks tokens) group(i int) tokens {
	inside := toks[min(i+1, len(toks)):]
	if end := slices.IndexFunc(inside, func(t token) bool { return t.deep <= toks[i].deep }); end >= 0 {
		return inside[:end]
	}
	return inside
}

// strs returns the texts of the string literals.
func (toks tokens) strs() []string {
	var out []string
	for _, t := range toks {
		if t.kind == str {
			out = append(out, t.text)
		}
	}
	return out
}

// joined returns the text of adjacent literals; "" if anything else is among them.
func (toks tokens) joined() string {
	if slices.ContainsFunc(toks, func(t token) bool { return t.kind != str && !t.is("(") && !t.is(")") }) {
		return ""
	}
	return strings.Join(toks.strs(), "")
}

// arguments returns the tokens of each named argument of a list. sep is between name and value.
func (toks tokens) arguments(sep string) map[string]tokens {
	args := make(map[string]tokens)
	key := ""
	for i, t := range toks {
		if t.deep == toks[0].deep {
			switch {
			case t.is(","):
				key = ""
				continue
			case key == "" && t.kind == word && toks.has(i+1, sep):
				key = t.text
				continue
			case t.is(sep) && len(args[key]) == 0:
				continue
			}
		}
		if key != "" {
			args[key] = append(args[key], t)
		}
	}
	return args
}

// mostTokens bounds how much of a program is read.
const mostTokens = 200_000

// lex splits a program into words, string literals and marks. It never fails: a literal without an end ends with its
// line, or with the text if it is triple-quoted.
func lex(text string, s syntax) tokens {
	l := &lexer{s: text, syntax: s, line: 1}
	for l.i < len(l.s) && len(l.toks) < mostTokens {
		l.step()
	}
	return l.toks
}

// lexer holds the state of a lex.
type lexer struct {
	s      string
	i      int
	line   int
	deep   int
	syntax syntax
	toks   tokens
}

func (l *lexer) emit(kind kind, text string, line int) {
	l.toks = append(l.toks, token{kind, text, line, l.deep})
}

// step reads a token, or skips blanks or a comment. It always advances.
func (l *lexer) step() {
	c := l.s[l.i]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		l.skip(1)
	case prose.StartsWithAny(l.s[l.i:], l.syntax.line...):
		l.skip(lengthTo(l.s[l.i:], "\n"))
	case l.syntax.block && strings.HasPrefix(l.s[l.i:], "/*"):
		l.skip(lengthTo(l.s[l.i:], "*/"))
	case strings.IndexByte(l.syntax.quotes, c) >= 0:
		l.str(c)
	case l.isWord(c):
		l.word()
	default:
		l.mark(c)
	}
}

// mark reads one byte of punctuation, and counts open brackets: see token.
func (l *lexer) mark(c byte) {
	if strings.IndexByte(")]}", c) >= 0 {
		l.deep--
	}
	l.emit(mark, string(rune(c)), l.line)
	if strings.IndexByte("([{", c) >= 0 {
		l.deep++
	}
	l.i++
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

func (l *lexer) isWord(c byte) bool {
	return prose.IsIdent(rune(c)) || strings.IndexByte(l.syntax.words, c) >= 0
}

func (l *lexer) word() {
	start := l.i
	for l.i < len(l.s) && l.isWord(l.s[l.i]) {
		l.i++
	}
	l.emit(word, l.s[start:l.i], l.line)
}

// str reads a literal. It drops one that is cut off by the end of the text.
func (l *lexer) str(quote byte) {
	line, fence := l.line, strings.Repeat(string(quote), 3)
	if l.syntax.triple && strings.HasPrefix(l.s[l.i:], fence) {
		body := l.s[l.i+3:]
		n := lengthTo(body, fence)
		l.skip(3 + n)
		l.emit(str, strings.TrimSuffix(body[:n], fence), line)
		return
	}
	from, end := l.i+1, l.closing(quote)
	l.skip(end - l.i + 1)
	if end < len(l.s) {
		l.emit(str, unescape(l.s[from:end]), line)
	}
}

// closing returns the index of the quote that ends the literal, or of the end of its line.
func (l *lexer) closing(quote byte) int {
	for i := l.i + 1; i < len(l.s); i++ {
		switch c := l.s[i]; {
		case c == quote, c == '\n' && !l.syntax.lines:
			return i
		case c == '\\' && !strings.HasPrefix(l.s[i+1:], "\n"):
			i++
		}
	}
	return len(l.s)
}

// unescape decodes the escapes of JSON. For other escapes it drops the backslash.
func unescape(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(`"`+raw+`"`), &s) == nil {
		return s
	}
	return strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, "", `\\`, `\`, `\`, "").Replace(raw)
}
