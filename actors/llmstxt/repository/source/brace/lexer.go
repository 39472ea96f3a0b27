package brace

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// TokenKind says what a token is.
type TokenKind uint8

// The kinds of tokens.
const (
	NoToken TokenKind = iota // past the last token
	WordToken
	NumberToken
	LiteralToken // a string, character, template, regular expression or element, whole
	PunctToken
	OpenToken // ( [ {
	CloseToken
)

// Token is a piece of a file. Comments and directives are no tokens but notes.
type Token struct {
	Kind        TokenKind
	Start, Stop int32 // bytes of the text
	Line, Last  int32 // where it begins and ends, from 1
	Notes       int32 // how many notes precede it in the file
	Pair        int32 // of an opening its closing and the reverse; len(tokens) where that is missing; of < its >, too
}

// Note is a comment, or a directive that is not a condition.
type Note struct {
	Start, Stop int32
	Line, Last  int32
	Kind        NoteKind
	Tokens      int32 // how many tokens precede it in the file
}

// NoteKind says what a note is.
type NoteKind uint8

// The kinds of notes.
const (
	LineComment NoteKind = iota
	BlockComment
	Directive
)

// Dialect is what the languages with braces do not agree upon.
type Dialect struct {
	Nested     bool             // block comments nest
	Hash       bool             // # begins a comment, #[ an attribute
	Backticks  bool             // a name may stand in backticks
	ClosesTag  bool             // ?> ends a line comment
	Directives []string         // the names after a # that make a line a directive; "*" stands for all
	Terminated bool             // statements end with ; or a brace, not with their line
	Literal    func(*Lexer) int // the end of the literal that begins at Pos; no more than Pos where there is none
	Docs       DocStyle
	Attrs      func(s *File, i int) int // the token after the attribute at i; i where there is none
	Repeats    bool                     // a name that comes again is another symbol: an overload
}

// Lexer cuts a file into tokens. It never fails: what does not close ends with its line or the file.
type Lexer struct {
	Dialect
	*surface.Clock
	Text     []byte
	Pos      int
	Tokens   []Token
	notes    []Note
	open     []int32  // openings that wait for their closings
	branches []branch // conditions that wait for their #endif
	floor    int      // openings below belong to the code around the literal that is read
	Base     int      // tokens before belong to it, too
	depth    int      // of code within literals
	counted  int      // lines are counted up to this byte
	line     int32
	Abort    bool // the element that is read does not close: back to where it began
}

// Code within literals nests no deeper; beyond it is text.
const deepestHole = 40

func (d Dialect) lex(ctx context.Context, text []byte, from int) *Lexer {
	l := &Lexer{Dialect: d, Clock: &surface.Clock{Context: ctx}, Text: text, Pos: from, line: 1}
	l.Tokens = make([]Token, 0, len(text)/6)
	l.code(0)
	for _, i := range l.open {
		l.Tokens[i].Pair = int32(len(l.Tokens))
	}
	return l
}

// code reads up to the end of the file or the closing byte that has no opening.
func (l *Lexer) code(until byte) {
	for l.Pos < len(l.Text) && !l.Abort && !l.Over() {
		c := l.Text[l.Pos]
		switch {
		case c <= ' ':
			l.Pos++
		case l.comment(c), l.directive(c), l.special():
		case IsWordByte(c) && !IsDigit(c):
			l.emit(WordToken, l.Pos+WordLength(l.Text[l.Pos:]))
		case c == '`' && l.Backticks:
			l.ticked()
		case IsDigit(c):
			l.number()
		case c == until && len(l.open) == l.floor:
			return
		default:
			l.punct(c)
		}
	}
}

func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

func IsWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || IsDigit(c) || c == '_' || c == '$' || c >= 0x80
}

// WordLength is how many bytes of a word the text begins with.
func WordLength[T string | []byte](text T) int {
	n := 0
	for n < len(text) && IsWordByte(text[n]) {
		n++
	}
	return n
}

// lineAt counts: positions must not decrease from call to call.
func (l *Lexer) lineAt(pos int) int32 {
	if pos > l.counted {
		l.line += int32(bytes.Count(l.Text[l.counted:pos], []byte("\n")))
		l.counted = pos
	}
	return l.line
}

func (l *Lexer) emit(kind TokenKind, stop int) {
	l.emitFrom(kind, l.Pos, l.lineAt(l.Pos), stop)
}

func (l *Lexer) emitFrom(kind TokenKind, start int, line int32, stop int) {
	l.Tokens = append(l.Tokens, Token{Kind: kind, Start: int32(start), Stop: int32(stop), Line: line,
		Last: l.lineAt(stop), Notes: int32(len(l.notes))})
	l.Pos = stop
}

func (l *Lexer) note(kind NoteKind, stop int) {
	line := l.lineAt(l.Pos)
	l.notes = append(l.notes, Note{Kind: kind, Start: int32(l.Pos), Stop: int32(stop), Line: line,
		Last: l.lineAt(stop), Tokens: int32(len(l.Tokens))})
	l.Pos = stop
}

// ticked reads a name in backticks, which are part of the token.
func (l *Lexer) ticked() {
	rest := l.Text[l.Pos+1 : min(len(l.Text), l.Pos+surface.LongestSpan)]
	end := bytes.IndexByte(rest, '`')
	if end < 1 || bytes.IndexByte(rest[:end], '\n') >= 0 {
		l.emit(PunctToken, l.Pos+1)
		return
	}
	l.emit(WordToken, l.Pos+end+2)
}

func (l *Lexer) number() {
	end := l.Pos + 1
	for end < len(l.Text) {
		c := l.Text[end]
		part := (c == '.' || c == '\'') && end+1 < len(l.Text) && IsWordByte(l.Text[end+1]) && IsDigit(l.Text[end-1])
		if c == '.' && part && !IsDigit(l.Text[end+1]) || !part && !IsWordByte(c) {
			break
		}
		end++
	}
	l.emit(NumberToken, end)
}

func (l *Lexer) special() bool {
	start, line := l.Pos, l.lineAt(l.Pos)
	end := l.Literal(l)
	l.Pos = start
	if end <= start {
		return false
	}
	l.emitFrom(LiteralToken, start, line, end)
	return true
}

func (l *Lexer) punct(c byte) {
	end := l.Pos + 1
	switch c {
	case '(', '[', '{':
		l.open = append(l.open, int32(len(l.Tokens)))
		l.emit(OpenToken, end)
		return
	case ')', ']', '}':
		l.emit(CloseToken, end)
		l.match(c)
		return
	}
	if end < len(l.Text) {
		switch string(l.Text[l.Pos : end+1]) {
		case "::", "=>", "->", "==", "!=", "<=", "&&", "||":
			end++
		}
	}
	l.emit(PunctToken, end)
}

// match pairs the closing that was just read. A brace also ends what was opened within its pair and never closed.
func (l *Lexer) match(c byte) {
	at := int32(len(l.Tokens) - 1)
	l.Tokens[at].Pair = at
	want := opener(c)
	for len(l.open) > l.floor {
		top := l.open[len(l.open)-1]
		found := l.Text[l.Tokens[top].Start] == want
		if !found && c != '}' {
			return
		}
		l.open = l.open[:len(l.open)-1]
		l.Tokens[top].Pair = at
		if found {
			l.Tokens[at].Pair = top
			return
		}
	}
}

func opener(c byte) byte { return "([{"[strings.IndexByte(")]}", c)] }

func (l *Lexer) comment(c byte) bool {
	if c == '#' && (l.Hash && l.At(1) != '[' || l.Pos == 0 && l.At(1) == '!' && l.At(2) != '[') {
		l.note(LineComment, l.lineEnd(l.Pos))
		return true
	}
	if c != '/' {
		return false
	}
	switch l.At(1) {
	case '/':
		l.note(LineComment, l.lineEnd(l.Pos))
	case '*':
		l.note(BlockComment, l.blockEnd())
	default:
		return false
	}
	return true
}

// At is the byte so far ahead; 0 outside of the file.
func (l *Lexer) At(ahead int) byte {
	if i := l.Pos + ahead; i >= 0 && i < len(l.Text) {
		return l.Text[l.Pos+ahead]
	}
	return 0
}

func (l *Lexer) lineEnd(from int) int {
	end := len(l.Text)
	if i := bytes.IndexByte(l.Text[from:], '\n'); i >= 0 {
		end = from + i
	}
	if l.ClosesTag {
		if i := bytes.Index(l.Text[from:end], []byte("?>")); i >= 0 {
			end = from + i
		}
	}
	return end
}

func (l *Lexer) blockEnd() int {
	depth := 1
	for i := l.Pos + 2; i+1 < len(l.Text); i++ {
		switch {
		case l.Text[i] == '*' && l.Text[i+1] == '/':
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		case l.Nested && l.Text[i] == '/' && l.Text[i+1] == '*':
			i++
			depth++
		}
	}
	return len(l.Text)
}
