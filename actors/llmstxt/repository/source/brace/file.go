package brace

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// File is a file in tokens, and what was found in it. Where functions take a token's index they also take one past
// the last.
type File struct {
	*surface.Clock
	Dialect
	Text     []byte
	Tokens   []Token
	Notes    []Note
	Symbols  []surface.Symbol
	seen     map[string]int // symbols by name, and by signature where names repeat
	landings map[landmark]int
	expanded int // tokens of bodies that were read for one of their names
}

// Scopes nest no deeper, and no type goes on for more steps, so that no file takes more than linear time.
const (
	DeepestScope = 12
	LongestType  = 1000
)

// Read cuts a text into tokens, from a byte on.
func (d Dialect) Read(ctx context.Context, text []byte, from int) *File {
	l := d.lex(ctx, text, from)
	s := &File{Clock: l.Clock, Dialect: l.Dialect, Text: l.Text, Tokens: l.Tokens, Notes: l.notes,
		seen: map[string]int{}, landings: map[landmark]int{}}
	s.pairAngles()
	return s
}

// At is the token at i; outside of the file one without a kind.
func (s *File) At(i int) Token {
	if i < 0 || i >= len(s.Tokens) {
		return Token{Line: s.lastLine(), Last: s.lastLine(), Notes: int32(len(s.Notes))}
	}
	return s.Tokens[i]
}

func (s *File) lastLine() int32 {
	if len(s.Tokens) == 0 {
		return 1
	}
	return s.Tokens[len(s.Tokens)-1].Last
}

// Bytes is the text of the token at i.
func (s *File) Bytes(i int) []byte {
	t := s.At(i)
	return s.Text[t.Start:t.Stop]
}

func (s *File) Str(i int) string { return string(s.Bytes(i)) }

func (s *File) Is(i int, text string) bool { return string(s.Bytes(i)) == text }

func (s *File) IsOneOf(i int, texts ...string) bool {
	b := s.Bytes(i)
	return slices.Contains(texts, string(b))
}

func (s *File) IsWord(i int) bool { return s.At(i).Kind == WordToken }

// Skip is the token after i, and after the whole group that i opens.
func (s *File) Skip(i int) int {
	if t := s.At(i); t.Kind == OpenToken {
		return int(t.Pair) + 1
	}
	return i + 1
}

// SkipBody is the token after the braces that i opens; i where it opens none.
func (s *File) SkipBody(i int) int {
	if s.Is(i, "{") {
		return s.Skip(i)
	}
	return i
}

// Inside is the range of tokens within the group that i opens.
func (s *File) Inside(i int) (from, to int) {
	return i + 1, min(int(s.At(i).Pair), len(s.Tokens))
}

// Angles is the token after the <...> that begins at i; i where none does.
func (s *File) Angles(i int) int {
	if t := s.At(i); t.Pair > int32(i) && t.Kind == PunctToken {
		return int(t.Pair) + 1
	}
	return i
}

// pairAngles gives every < that closes before its group or statement ends its >.
func (s *File) pairAngles() {
	var waiting []int
	var groups []int // how many waited when a group began
	floor := 0
	for i, t := range s.Tokens {
		switch s.Text[t.Start] {
		case '<':
			if t.Stop-t.Start == 1 {
				waiting = append(waiting, i)
			}
		case '>':
			if len(waiting) > floor {
				s.Tokens[waiting[len(waiting)-1]].Pair, s.Tokens[i].Pair = int32(i), int32(waiting[len(waiting)-1])
				waiting = waiting[:len(waiting)-1]
			}
		case ';':
			waiting = waiting[:floor]
		case '(', '[', '{':
			groups = append(groups, floor)
			floor = len(waiting)
		case ')', ']', '}':
			waiting = waiting[:floor]
			if len(groups) > 0 {
				floor = groups[len(groups)-1]
				groups = groups[:len(groups)-1]
			}
		}
	}
}

// Breaks tells whether token i stands on a line of its own statement: further down than the token before it ends.
func (s *File) Breaks(i int) bool {
	return i > 0 && s.At(i).Line > s.At(i-1).Last
}

// Name is the identifier at i without what marks it as no keyword.
func (s *File) Name(i int) string {
	name := strings.Trim(s.Str(i), "`")
	return strings.TrimPrefix(name, "@")
}

// Full tells that a file has all the symbols that it may have, or may take no more time.
func (s *File) Full() bool { return len(s.Symbols) >= surface.MaxSymbols || s.Over() }

// Add keeps a symbol whose name can be one: broken text makes names of whole literals. One that comes again yields to
// the first, which takes its documentation where it has none.
func (s *File) Add(sym surface.Symbol) {
	isName := sym.Name == strings.TrimSpace(sym.Name) && !strings.ContainsFunc(sym.Name, unicode.IsControl)
	if !isName || sym.Name == "" || len(sym.Name) > surface.SignatureRunes || s.Full() {
		return
	}
	key := sym.Name
	if s.Repeats {
		key += "\n" + sym.Signature
	}
	if i, ok := s.seen[key]; ok {
		s.Symbols[i].Doc = cmp.Or(s.Symbols[i].Doc, sym.Doc)
		return
	}
	s.seen[key] = len(s.Symbols)
	s.Symbols = append(s.Symbols, sym)
}

// Each visits what begins at a token, from one to the next; visit gives the token after it.
func (s *File) Each(from, to int, visit func(i int) int) {
	for i := from; i < to && !s.Full(); {
		i = max(visit(i), i+1)
	}
}

// EachStatement is Each for languages whose statements begin where begins tells: what stands between is passed over.
func (s *File) EachStatement(from, to int, begins func(i int) bool, visit func(i int) int) {
	for i := from; i < to && !s.Full(); {
		next := i
		if i == from || begins(i) {
			next = visit(i)
		}
		i = max(next, s.Skip(i))
	}
}

// EachPart visits what stands between commas.
func (s *File) EachPart(from, to int, visit func(from, to int)) {
	for i := from; i < to && !s.Full(); i++ {
		end := s.Until(i, to, ",")
		if i < end {
			visit(i, end)
		}
		i = end
	}
}

// Declare keeps the symbol that is declared from token "from", whose signature runs up to token "to".
func (s *File) Declare(name string, kind surface.Kind, from, to int) {
	s.Keep(name, kind, s.Signature(from, to), s.Doc(from), s.Attributes(from))
}

// Keep is Add for what stands on the line of a token.
func (s *File) Keep(name string, kind surface.Kind, signature, doc string, at int) {
	s.Add(surface.Symbol{Name: name, Kind: kind, Signature: signature, Doc: doc, Line: int(s.At(at).Line)})
}

// Signature is the source of the tokens on one line, without attributes.
func (s *File) Signature(from, to int) string {
	var b strings.Builder
	for i, before := from, -1; i < min(to, len(s.Tokens)) && b.Len() < 4*surface.SignatureRunes; {
		if next := s.Attributes(i); next > i {
			i = next
			continue
		}
		s.write(&b, before, i)
		before = i
		i++
	}
	return strings.TrimRight(b.String(), " ,;=")
}

func (s *File) write(b *strings.Builder, before, i int) {
	t := s.At(i)
	text := s.Bytes(i)
	text = bytes.ToValidUTF8(text[:min(len(text), 2*surface.SignatureRunes)], nil)
	if before >= 0 {
		last := s.Bytes(before)
		comma := t.Kind == CloseToken && string(last) == ","
		if comma {
			kept := strings.TrimSuffix(b.String(), ",")
			b.Reset()
			b.WriteString(kept)
		}
		if !comma && t.Start > s.At(before).Stop && s.spaced(before, i) {
			b.WriteByte(' ')
		}
	}
	b.Write(text)
}

// spaced tells whether a gap between two tokens is more than layout.
func (s *File) spaced(before, i int) bool {
	switch s.Str(before) {
	case "(", "[":
		return false
	}
	switch s.Str(i) {
	case ")", "]", ",", ";":
		return false
	case ".", "?":
		return !s.Breaks(i)
	}
	return true
}

// IsMacroName tells names of macros and constants, as the name of a type is seldom one.
func IsMacroName(name []byte) bool { return len(name) > 1 && surface.IsConstantName(string(name)) }

// AfterAttribute passes over the @name.name<...>(...) or @file:name at i. A parenthesis that stands apart is not its
// own.
func (s *File) AfterAttribute(i int) int {
	i += 2
	for s.IsOneOf(i, ".", ":") && s.IsWord(i+1) {
		i += 2
	}
	i = s.Angles(i)
	if s.Is(i, "(") && s.At(i).Start == s.At(i-1).Stop {
		i = s.Skip(i)
	}
	return i
}

// OperatorName is "operator==" or "operator bool".
func (s *File) OperatorName(from, to int) string {
	var name strings.Builder
	name.WriteString(s.Str(from))
	for i := from + 1; i < min(to, from+8); i++ {
		if s.IsWord(i) {
			name.WriteString(" ")
		}
		name.WriteString(s.Str(i))
	}
	return name.String()
}

// Decorator passes over @name.name(...).
func Decorator(s *File, i int) int {
	if !s.Is(i, "@") || !s.IsWord(i+1) || s.Is(i+1, "interface") {
		return i
	}
	return s.AfterAttribute(i)
}

// Guess is the kind of a name whose declaration is elsewhere, by custom.
func Guess(name string) surface.Kind {
	switch {
	case IsMacroName([]byte(name)):
		return surface.Constant
	case name != "" && 'A' <= name[0] && name[0] <= 'Z':
		return surface.Type
	}
	return surface.Function
}
