package redact

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/stable"
)

// known is the content of a Secrets at one time: an automaton that reads the text once for all patterns. It never
// changes.
type known struct {
	values []string // sorted
	tables [2]table // of plain texts, and of base64
	shapes []shape
	pairs  [1 << 16 / 64]uint64 // a bit for two bytes that may begin a secret
}

// pattern is one form of a secret.
type pattern struct{ text, mark string }

// table holds patterns in order. Those that begin with the same bytes are neighbours, so that a span of them is a state.
type table struct {
	patterns []pattern
	starting [256]span // by first byte
	base64   bool      // in the standard or the URL alphabet
}

type span struct{ from, to int }

// shape is the form of tokens that nobody has told: a prefix, and characters of base64.
type shape struct {
	prefix, mark string
	more         int
}

// found is the longest secret so far at the start of a text. open: more text may make it longer.
type found struct {
	end  int
	mark string
	open bool
}

// with returns what is known after the values and shapes are known, too.
func (k *known) with(mark string, values []string, shapes ...shape) *known {
	next := &known{tables: [2]table{{}, {base64: true}}}
	var forms [2][]pattern
	if k != nil {
		next.values, next.shapes, forms = k.values, k.shapes, [2][]pattern{k.tables[0].patterns, k.tables[1].patterns}
	}
	next.values, next.shapes = slices.Concat(next.values, values), slices.Concat(next.shapes, shapes)
	slices.Sort(next.values)
	for i := range forms {
		forms[i] = slices.Clone(forms[i])
	}
	for _, value := range values {
		forms[0] = append(forms[0], pattern{value, mark})
		for _, text := range encoded(value) {
			forms[1] = append(forms[1], pattern{text, mark})
		}
	}
	for i := range forms {
		next.tables[i].fill(forms[i])
	}
	next.begin()
	return next
}

// encoded returns the forms of a value in base64, unless it is short. There are three, by its position in a group of three
// bytes; each has only the characters that the value alone determines.
func encoded(value string) (forms []string) {
	if len(value) < least {
		return nil
	}
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		forms = append(forms, text[(shift*8+5)/6:(shift+len(value))*8/6])
	}
	return forms
}

func (t *table) fill(patterns []pattern) {
	stable.Sort(patterns, func(a, b pattern) int { return cmp.Compare(a.text, b.text) })
	t.patterns = patterns
	for i, p := range patterns {
		if s := &t.starting[p.text[0]]; s.to == 0 {
			*s = span{i, i + 1}
		} else {
			s.to++
		}
	}
}

const escapes = `\%&`

// begin notes the first two bytes of all that is known.
func (k *known) begin() {
	for i := range k.tables {
		t := &k.tables[i]
		for _, p := range t.patterns {
			for _, a := range t.standing(p.text[0]) {
				for _, b := range t.standing(p.text[1]) {
					k.pair(a, b)
				}
			}
		}
	}
	for _, s := range k.shapes {
		for _, a := range []byte(escapes + s.prefix[:1]) {
			for _, b := range []byte(escapes + s.prefix[1:2]) {
				k.pair(a, b)
			}
		}
	}
	for _, a := range []byte(escapes) { // what follows may be any escaped character
		for b := range 256 {
			k.pair(a, byte(b))
		}
	}
}

func (k *known) pair(a, b byte) { k.pairs[int(a)<<2|int(b)>>6] |= 1 << (b & 63) }

// mayBegin reports whether a secret may begin at the start of the text.
func (k *known) mayBegin(text string) bool {
	if len(text) > 1 {
		return k.pairs[int(text[0])<<2|int(text[1])>>6]&(1<<(text[1]&63)) != 0
	}
	row := k.pairs[int(text[0])<<2:][:4]
	return row[0]|row[1]|row[2]|row[3] != 0
}

// standing returns the bytes that may stand for c: itself, another, and the first of an escape.
func (t *table) standing(c byte) []byte {
	all := append([]byte(escapes), c)
	for _, other := range []byte("+-_") {
		if t.instead(other) == c {
			all = append(all, other)
		}
	}
	return all
}

// instead returns the byte that c may stand for: a space in a query, or a character of base64's other alphabet.
func (t *table) instead(c byte) byte {
	switch {
	case c == '+' && !t.base64:
		return ' '
	case c == '-' && t.base64:
		return '+'
	case c == '_' && t.base64:
		return '/'
	}
	return c
}

// longest finds the longest secret in the text from its byte at.
func (k *known) longest(text string, pos int, ends bool) (f found) {
	word := inWord(text[:pos])
	text = text[pos:]
	for i := range k.tables {
		t := &k.tables[i]
		t.exact(text, &f)
		t.step(t.all(), 0, text, 0, ends, &f)
	}
	for _, s := range k.shapes {
		s.match(text, word, ends, &f)
	}
	return f
}

func (t *table) all() span { return span{0, len(t.patterns)} }

// exact looks for a whole pattern as it is, which may look like an escape.
func (t *table) exact(text string, f *found) {
	s := t.all()
	for depth := 0; depth < len(text) && s.from < s.to; depth++ {
		if s = t.narrow(s, depth, text[depth]); s.from < s.to && len(t.patterns[s.from].text) == depth+1 && depth >= f.end {
			f.end, f.mark = depth+1, t.patterns[s.from].mark
		}
	}
}

// step goes on from the patterns of the span, whose first depth bytes the text has up to at.
func (t *table) step(s span, depth int, text string, pos int, ends bool, f *found) {
	for s.from < s.to {
		if mark := t.accepted(s, depth); mark != "" && pos > f.end {
			f.end, f.mark = pos, mark
		}
		for s.from < s.to && len(t.patterns[s.from].text) == depth {
			s.from++
		}
		if s.from == s.to {
			return
		}
		if pos == len(text) {
			f.open = true
			return
		}
		c, n, cut := decode(text[pos:])
		if cut && !ends {
			f.open = true
			return
		}
		if raw := text[pos]; raw != c {
			t.step(t.narrow(s, depth, raw), depth+1, text, pos+1, ends, f)
		}
		if other := t.instead(c); other != c {
			t.step(t.narrow(s, depth, other), depth+1, text, pos+n, ends, f)
		}
		s, depth, pos = t.narrow(s, depth, c), depth+1, pos+n
	}
}

// accepted returns the mark of a pattern that its first depth bytes give away: all of them, or half.
func (t *table) accepted(s span, depth int) string {
	if first := t.patterns[s.from]; len(first.text) == depth {
		return first.mark
	}
	for i := s.from; depth >= least && i < s.to; i++ {
		if p := t.patterns[i]; depth >= (len(p.text)+1)/2 {
			return p.mark
		}
	}
	return ""
}

// narrow returns the patterns of the span whose byte at depth is c.
func (t *table) narrow(s span, depth int, c byte) span {
	switch {
	case depth == 0:
		return t.starting[c]
	case s.to-s.from == 1:
		if p := t.patterns[s.from].text; depth < len(p) && p[depth] == c {
			return s
		}
		return span{}
	}
	return span{t.first(s, depth, int(c)), t.first(s, depth, int(c)+1)}
}

// first returns the first pattern of the span whose byte at depth is c or greater; a pattern that has none is less.
func (t *table) first(s span, depth, c int) int {
	for s.from < s.to {
		middle := (s.from + s.to) / 2
		if p := t.patterns[middle].text; depth < len(p) && int(p[depth]) >= c {
			s.to = middle
		} else {
			s.from = middle + 1
		}
	}
	return s.from
}

// behind is the number of bytes of the longest escape, which says whether a letter is one or ends an escape.
const behind = len(`\u0000`)

// inWord reports whether the text ends with a letter or a digit, and not with an escape.
func inWord(text string) bool {
	return text != "" && isAlphanumeric(text[len(text)-1]) && !strings.ContainsAny(text[max(0, len(text)-behind):], escapes)
}

// match looks for a token of the shape. Within a word, a part of the prefix is no beginning of one: words such as "Hello"
// have them, too.
func (s shape) match(text string, word, ends bool, f *found) {
	pos := 0
	for i := range len(s.prefix) + s.more {
		if pos == len(text) {
			f.open = f.open || !word || i >= len(s.prefix)
			return
		}
		c, n, cut := decode(text[pos:])
		if cut && !ends {
			f.open = true
			return
		}
		if i < len(s.prefix) && c != s.prefix[i] || i >= len(s.prefix) && !isAlphanumeric(c) && c != '-' && c != '_' {
			return
		}
		pos += n
	}
	if pos > f.end {
		f.end, f.mark = pos, s.mark
	}
}

// isFresh reports whether the value is not known yet.
func (k *known) isFresh(value string) bool {
	if k == nil {
		return true
	}
	_, have := slices.BinarySearch(k.values, value)
	return !have
}
