package surface

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is a file in tokens, and what was found in it. Where functions take a token's index they also take one past
// the last.
type source struct {
	*clock
	dialect
	text     []byte
	tokens   []token
	notes    []note
	symbols  []Symbol
	seen     map[string]int // symbols by name, and by signature where names repeat
	landings map[landmark]int
	expanded int // tokens of bodies that were read for one of their names
}

// Scopes nest no deeper, and no type goes on for more steps, so that no file takes more than linear time.
const (
	deepestScope = 12
	longestType  = 1000
)

// source cuts a text into tokens, from a byte on.
func (d dialect) source(ctx context.Context, text []byte, from int) *source {
	l := d.lex(ctx, text, from)
	s := &source{clock: l.clock, dialect: l.dialect, text: l.text, tokens: l.tokens, notes: l.notes,
		seen: map[string]int{}, landings: map[landmark]int{}}
	s.pairAngles()
	return s
}

func (s *source) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{line: s.lastLine(), last: s.lastLine(), notes: int32(len(s.notes))}
	}
	return s.tokens[i]
}

func (s *source) lastLine() int32 {
	if len(s.tokens) == 0 {
		return 1
	}
	return s.tokens[len(s.tokens)-1].last
}

func (s *source) bytes(i int) []byte {
	t := s.at(i)
	return s.text[t.start:t.stop]
}

func (s *source) str(i int) string { return string(s.bytes(i)) }

func (s *source) is(i int, text string) bool { return string(s.bytes(i)) == text }

func (s *source) isOneOf(i int, texts ...string) bool {
	b := s.bytes(i)
	return slices.Contains(texts, string(b))
}

func (s *source) isWord(i int) bool { return s.at(i).kind == wordToken }

// skip is the token after i, and after the whole group that i opens.
func (s *source) skip(i int) int {
	if t := s.at(i); t.kind == openToken {
		return int(t.pair) + 1
	}
	return i + 1
}

// inside is the range of tokens within the group that i opens.
func (s *source) inside(i int) (from, to int) {
	return i + 1, min(int(s.at(i).pair), len(s.tokens))
}

// angles is the token after the <...> that begins at i; i where none does.
func (s *source) angles(i int) int {
	if t := s.at(i); t.pair > int32(i) && t.kind == punctToken {
		return int(t.pair) + 1
	}
	return i
}

// pairAngles gives every < that closes before its group or statement ends its >.
func (s *source) pairAngles() {
	var waiting []int
	var groups []int // how many waited when a group began
	floor := 0
	for i, t := range s.tokens {
		switch s.text[t.start] {
		case '<':
			if t.stop-t.start == 1 {
				waiting = append(waiting, i)
			}
		case '>':
			if len(waiting) > floor {
				s.tokens[waiting[len(waiting)-1]].pair, s.tokens[i].pair = int32(i), int32(waiting[len(waiting)-1])
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

// breaks tells whether token i stands on a line of its own statement: further down than the token before it ends.
func (s *source) breaks(i int) bool {
	return i > 0 && s.at(i).line > s.at(i-1).last
}

// name is the identifier at i without what marks it as no keyword.
func (s *source) name(i int) string {
	name := strings.Trim(s.str(i), "`")
	return strings.TrimPrefix(name, "@")
}

// full tells that a file has all the symbols that it may have, or may take no more time.
func (s *source) full() bool { return len(s.symbols) >= MaxSymbols || s.over() }

// add keeps a symbol whose name can be one: broken text makes names of whole literals. One that comes again yields to
// the first, which takes its documentation where it has none.
func (s *source) add(sym Symbol) {
	isName := sym.Name == strings.TrimSpace(sym.Name) && !strings.ContainsFunc(sym.Name, unicode.IsControl)
	if !isName || sym.Name == "" || len(sym.Name) > signatureRunes || s.full() {
		return
	}
	key := sym.Name
	if s.repeats {
		key += "\n" + sym.Signature
	}
	if i, ok := s.seen[key]; ok {
		if s.symbols[i].Doc == "" {
			s.symbols[i].Doc = sym.Doc
		}
		return
	}
	s.seen[key] = len(s.symbols)
	s.symbols = append(s.symbols, sym)
}

// declare keeps the symbol that is declared from token "from", whose signature runs up to token "to".
func (s *source) declare(name string, kind Kind, from, to int) {
	s.add(Symbol{Name: name, Kind: kind, Signature: s.signature(from, to), Doc: s.doc(from),
		Line: int(s.at(s.attributes(from)).line)})
}

// signature is the source of the tokens on one line, without attributes.
func (s *source) signature(from, to int) string {
	var b strings.Builder
	for i, before := from, -1; i < min(to, len(s.tokens)) && b.Len() < 4*signatureRunes; {
		if next := s.attributes(i); next > i {
			i = next
			continue
		}
		s.write(&b, before, i)
		before = i
		i++
	}
	return strings.TrimRight(b.String(), " ,;=")
}

func (s *source) write(b *strings.Builder, before, i int) {
	t := s.at(i)
	text := s.bytes(i)
	text = bytes.ToValidUTF8(text[:min(len(text), 2*signatureRunes)], nil)
	if before >= 0 {
		last := s.bytes(before)
		comma := t.kind == closeToken && string(last) == ","
		if comma {
			kept := strings.TrimSuffix(b.String(), ",")
			b.Reset()
			b.WriteString(kept)
		}
		if !comma && t.start > s.at(before).stop && s.spaced(before, i) {
			b.WriteByte(' ')
		}
	}
	b.Write(text)
}

// spaced tells whether a gap between two tokens is more than layout.
func (s *source) spaced(before, i int) bool {
	switch s.str(before) {
	case "(", "[":
		return false
	}
	switch s.str(i) {
	case ")", "]", ",", ";":
		return false
	case ".", "?":
		return !s.breaks(i)
	}
	return true
}

// isMacroName tells names of macros and constants: capitals, digits and underscores.
func isMacroName(name []byte) bool {
	letters := 0
	for _, c := range name {
		if 'a' <= c && c <= 'z' || c >= utf8.RuneSelf {
			return false
		}
		if 'A' <= c && c <= 'Z' {
			letters++
		}
	}
	return letters > 1
}

// afterAttribute passes over the @name.name(...) at i. A parenthesis that stands apart is not its own.
func (s *source) afterAttribute(i int) int {
	i += 2
	for s.is(i, ".") && s.isWord(i+1) {
		i += 2
	}
	if s.is(i, "(") && s.at(i).start == s.at(i-1).stop {
		i = s.skip(i)
	}
	return i
}

// operatorName is "operator==" or "operator bool".
func (s *source) operatorName(from, to int) string {
	var name strings.Builder
	name.WriteString(s.str(from))
	for i := from + 1; i < min(to, from+8); i++ {
		if s.isWord(i) {
			name.WriteString(" ")
		}
		name.WriteString(s.str(i))
	}
	return name.String()
}

// decorator passes over @name.name(...).
func decorator(s *source, i int) int {
	if !s.is(i, "@") || !s.isWord(i+1) || s.is(i+1, "interface") {
		return i
	}
	return s.afterAttribute(i)
}

// guess is the kind of a name whose declaration is elsewhere, by custom.
func guess(name string) Kind {
	switch {
	case isMacroName([]byte(name)):
		return Constant
	case name != "" && 'A' <= name[0] && name[0] <= 'Z':
		return Type
	}
	return Function
}
