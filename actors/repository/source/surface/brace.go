package surface

import (
	"bytes"
	"context"
)

type tokenKind uint8

const (
	noToken tokenKind = iota // past the last token
	wordToken
	numberToken
	literalToken // a string, character, template, regular expression or element, whole
	punctToken
	openToken // ( [ {
	closeToken
)

// token is a piece of a file. Comments and directives are no tokens but notes.
type token struct {
	kind        tokenKind
	start, stop int32 // bytes of the text
	line, last  int32 // where it begins and ends, from 1
	notes       int32 // how many notes precede it in the file
	pair        int32 // of an opening its closing and the reverse; len(tokens) where that is missing; of < its >, too
}

// note is a comment, or a directive that is not a condition.
type note struct {
	start, stop int32
	line, last  int32
	kind        noteKind
	tokens      int32 // how many tokens precede it in the file
}

type noteKind uint8

const (
	lineComment noteKind = iota
	blockComment
	directive
)

// dialect is what the languages with braces do not agree upon.
type dialect struct {
	nested     bool              // block comments nest
	hash       bool              // # begins a comment, #[ an attribute
	backticks  bool              // a name may stand in backticks
	closesTag  bool              // ?> ends a line comment
	directives func(string) bool // tells the names after a # that make a line a directive; nil: there are none
	terminated bool              // statements end with ; or a brace, not with their line
	literal    func(*lexer) int  // the end of the literal that begins at pos; no more than pos where there is none
	docs       docStyle
	attrs      func(s *source, i int) int // the token after the attribute at i; i where there is none
	repeats    bool                       // a name that comes again is another symbol: an overload
}

// lexer cuts a file into tokens. It never fails: what does not close ends with its line or the file.
type lexer struct {
	dialect
	*clock
	text     []byte
	pos      int
	tokens   []token
	notes    []note
	open     []int32  // openings that wait for their closings
	branches []branch // conditions that wait for their #endif
	floor    int      // openings below belong to the code around the literal that is read
	base     int      // tokens before belong to it, too
	depth    int      // of code within literals
	counted  int      // lines are counted up to this byte
	line     int32
	abort    bool // the element that is read does not close: back to where it began
}

// Code within literals nests no deeper; beyond it is text.
const deepestHole = 40

func (d dialect) lex(ctx context.Context, text []byte, from int) *lexer {
	l := &lexer{dialect: d, clock: &clock{ctx: ctx}, text: text, pos: from, line: 1}
	l.tokens = make([]token, 0, len(text)/6)
	l.code(0)
	for _, i := range l.open {
		l.tokens[i].pair = int32(len(l.tokens))
	}
	return l
}

// code reads up to the end of the file or the closing byte that has no opening.
func (l *lexer) code(until byte) {
	for l.pos < len(l.text) && !l.abort && !l.over() {
		c := l.text[l.pos]
		switch {
		case c <= ' ':
			l.pos++
		case l.comment(c), l.directive(c), l.special():
		case isWordByte(c) && !isDigit(c):
			l.word()
		case c == '`' && l.backticks:
			l.ticked()
		case isDigit(c):
			l.number()
		case c == until && len(l.open) == l.floor:
			return
		default:
			l.punct(c)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c >= 0x80
}

// lineAt counts: positions must not decrease from call to call.
func (l *lexer) lineAt(pos int) int32 {
	if pos > l.counted {
		l.line += int32(bytes.Count(l.text[l.counted:pos], []byte("\n")))
		l.counted = pos
	}
	return l.line
}

func (l *lexer) emit(kind tokenKind, stop int) {
	l.emitFrom(kind, l.pos, l.lineAt(l.pos), stop)
}

func (l *lexer) emitFrom(kind tokenKind, start int, line int32, stop int) {
	l.tokens = append(l.tokens, token{kind: kind, start: int32(start), stop: int32(stop), line: line,
		last: l.lineAt(stop), notes: int32(len(l.notes))})
	l.pos = stop
}

func (l *lexer) note(kind noteKind, stop int) {
	line := l.lineAt(l.pos)
	l.notes = append(l.notes, note{kind: kind, start: int32(l.pos), stop: int32(stop), line: line,
		last: l.lineAt(stop), tokens: int32(len(l.tokens))})
	l.pos = stop
}

func (l *lexer) word() {
	end := l.pos + 1
	for end < len(l.text) && isWordByte(l.text[end]) {
		end++
	}
	l.emit(wordToken, end)
}

// ticked reads a name in backticks, which are part of the token.
func (l *lexer) ticked() {
	rest := l.text[l.pos+1 : min(len(l.text), l.pos+longestSpan)]
	end := bytes.IndexByte(rest, '`')
	if end < 1 || bytes.IndexByte(rest[:end], '\n') >= 0 {
		l.emit(punctToken, l.pos+1)
		return
	}
	l.emit(wordToken, l.pos+end+2)
}

func (l *lexer) number() {
	end := l.pos + 1
	for end < len(l.text) {
		c := l.text[end]
		part := (c == '.' || c == '\'') && end+1 < len(l.text) && isWordByte(l.text[end+1]) && isDigit(l.text[end-1])
		if c == '.' && part && !isDigit(l.text[end+1]) || !part && !isWordByte(c) {
			break
		}
		end++
	}
	l.emit(numberToken, end)
}

func (l *lexer) special() bool {
	start, line := l.pos, l.lineAt(l.pos)
	end := l.literal(l)
	l.pos = start
	if end <= start {
		return false
	}
	l.emitFrom(literalToken, start, line, end)
	return true
}

func (l *lexer) punct(c byte) {
	end := l.pos + 1
	switch c {
	case '(', '[', '{':
		l.open = append(l.open, int32(len(l.tokens)))
		l.emit(openToken, end)
		return
	case ')', ']', '}':
		l.emit(closeToken, end)
		l.match(c)
		return
	}
	if end < len(l.text) {
		switch string(l.text[l.pos : end+1]) {
		case "::", "=>", "->", "==", "!=", "<=", "&&", "||":
			end++
		}
	}
	l.emit(punctToken, end)
}

// match pairs the closing that was just read. A brace also ends what was opened within its pair and never closed.
func (l *lexer) match(c byte) {
	at := int32(len(l.tokens) - 1)
	l.tokens[at].pair = at
	want := opener(c)
	for len(l.open) > l.floor {
		top := l.open[len(l.open)-1]
		found := l.text[l.tokens[top].start] == want
		if !found && c != '}' {
			return
		}
		l.open = l.open[:len(l.open)-1]
		l.tokens[top].pair = at
		if found {
			l.tokens[at].pair = top
			return
		}
	}
	if len(l.branches) > 0 {
		l.branches[len(l.branches)-1].stray = true
	}
}

func opener(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

func (l *lexer) comment(c byte) bool {
	if c == '#' && (l.hash && l.at(1) != '[' || l.pos == 0 && l.at(1) == '!' && l.at(2) != '[') {
		l.note(lineComment, l.lineEnd(l.pos))
		return true
	}
	if c != '/' {
		return false
	}
	switch l.at(1) {
	case '/':
		l.note(lineComment, l.lineEnd(l.pos))
	case '*':
		l.note(blockComment, l.blockEnd())
	default:
		return false
	}
	return true
}

// at is the byte so far ahead; 0 outside of the file.
func (l *lexer) at(ahead int) byte {
	if i := l.pos + ahead; i >= 0 && i < len(l.text) {
		return l.text[l.pos+ahead]
	}
	return 0
}

func (l *lexer) lineEnd(from int) int {
	end := len(l.text)
	if i := bytes.IndexByte(l.text[from:], '\n'); i >= 0 {
		end = from + i
	}
	if l.closesTag {
		if i := bytes.Index(l.text[from:end], []byte("?>")); i >= 0 {
			end = from + i
		}
	}
	return end
}

func (l *lexer) blockEnd() int {
	depth := 1
	for i := l.pos + 2; i+1 < len(l.text); i++ {
		switch {
		case l.text[i] == '*' && l.text[i+1] == '/':
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		case l.nested && l.text[i] == '/' && l.text[i+1] == '*':
			i++
			depth++
		}
	}
	return len(l.text)
}
