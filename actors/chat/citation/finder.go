package citation

import (
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model/decode"
)

// Mark is a position in a text that cites a source.
type Mark struct {
	Source int // index of the source, from 0
	Offset int // position of the mark's first byte
}

// MaxName bounds the bytes between brackets; a longer text is not a name.
const MaxName = 200

// Finder reads a text piece by piece. It is not safe for concurrent use.
type Finder struct {
	sources sources
	code    decode.Code
	offset  int // offset of the next byte
	before  byte
	blank   bool // so far the line has only blanks

	open   bool // a mark may be under way
	mark   candidate
	text   []byte           // text between the brackets
	closed bool             // the next byte decides
	prior  []Mark           // "[a]" of "[a][b]": marks if [b] is one
	beside bool             // "[text]" was no mark, and neither is a bracket that follows at once
	notes  map[string][]int // offsets of footnotes that do not name a source
	define string           // the footnote that this line defines
	note   []byte           // the definition of that footnote
	found  []Mark
}

// candidate is a bracket that may be a mark.
type candidate struct {
	offset  int
	brace   bool // {{…}}
	indexed bool // an identifier stands before it
	first   bool // first in its line
	image   bool
}

// New returns a Finder for the sources with these names. If the model was given their numbers, from 1, the numbers
// count too.
func New(names []string, numbered bool) *Finder {
	return &Finder{sources: sources{names, numbered}, blank: true, notes: map[string][]int{}}
}

// Push returns the marks that the text completes. A footnote whose definition comes later is reported with an earlier
// offset.
func (f *Finder) Push(text string) []Mark {
	f.found = nil
	for i := range len(text) {
		f.step(text[i])
	}
	return f.found
}

// Close returns the marks at the end of the text.
func (f *Finder) Close() []Mark {
	return f.Push("\n")
}

// step takes the next byte. A label is decided by the byte after it, which tells a link from a citation.
func (f *Finder) step(b byte) {
	bracket := b == '[' || b == '{'
	inside := bracket && f.code.Inside() // this may only be asked before such a byte
	f.code.Step(b)
	if f.closed {
		f.decide(b)
	}
	if f.define != "" {
		f.definition(b)
	}
	switch {
	case b == '\n':
		f.open, f.beside, f.prior = false, false, nil
	case f.open && f.ends(b):
		f.open, f.closed = false, true
	case b == '[' && !inside && f.before != '\\':
		f.begin(candidate{offset: f.offset, indexed: identifier(f.before), first: f.blank, image: f.before == '!'})
	case b == '{' && f.before == '{' && !inside:
		f.begin(candidate{offset: f.offset - 1, brace: true})
	case f.open:
		f.text = append(f.text, b)
		f.open = len(f.text) <= MaxName
	case b != ']':
		f.beside = false
	}
	f.blank = b == '\n' || f.blank && (b == ' ' || b == '\t')
	f.before = b
	f.offset++
}

func (f *Finder) begin(c candidate) {
	f.open, f.mark, f.text = true, c, f.text[:0]
}

func (f *Finder) ends(b byte) bool {
	if !f.mark.brace {
		return b == ']'
	}
	if b != '}' || f.before != '}' {
		return false
	}
	f.text = f.text[:len(f.text)-1]
	return true
}

// decide decides whether the closed candidate is a mark. b is the byte after it.
func (f *Finder) decide(b byte) {
	f.closed = false
	text := strings.TrimSpace(string(f.text))
	id, footnote := strings.CutPrefix(text, "^")
	link := b == '(' || b == ':' && f.mark.first
	switch {
	case footnote && b == ':' && f.mark.first:
		f.define, f.note = id, f.note[:0]
		return
	case f.mark.brace:
		if named, ok := strings.CutPrefix(strings.ToLower(text), "cite:"); ok {
			f.found = append(f.found, f.marks(f.sources.cited(named, false))...)
		}
		return
	case f.mark.image, f.beside, link && !footnote:
		f.prior, f.beside = nil, true
		return
	}
	cited := f.sources.cited(text, f.mark.indexed)
	if cited == nil && footnote {
		f.notes[id] = append(f.notes[id], f.mark.offset)
	}
	switch {
	case cited == nil:
		f.prior, f.beside = nil, !footnote
	case b == '[' && !footnote:
		f.prior = append(f.prior, f.marks(cited)...)
	default:
		f.found, f.prior = append(f.found, f.prior...), nil
		f.found = append(f.found, f.marks(cited)...)
	}
}

func (f *Finder) marks(cited []int) (out []Mark) {
	for _, s := range cited {
		out = append(out, Mark{s, f.mark.offset})
	}
	return out
}

// definition reads the line that defines a footnote.
func (f *Finder) definition(b byte) {
	if b != '\n' {
		f.note = append(f.note, b)
		return
	}
	if s := f.sources.defined(string(f.note)); s >= 0 {
		for _, at := range f.notes[f.define] {
			f.found = append(f.found, Mark{s, at})
		}
		delete(f.notes, f.define)
	}
	f.define = ""
}

// identifier reports whether the byte may end an identifier or a call.
func identifier(b byte) bool { return b == ')' || index.Match([]byte{b}) }

// Of returns the marks of a whole text, sorted by offset.
func Of(text string, names []string, numbered bool) []Mark {
	f := New(names, numbered)
	marks := append(f.Push(text), f.Close()...)
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Offset - b.Offset })
	return marks
}
