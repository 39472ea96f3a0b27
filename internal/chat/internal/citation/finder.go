package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Mark is a position in a text that cites something.
type Mark struct {
	Source int    // index of the source, from 0; -1 if the mark names none
	Offset int    // position of the mark's first byte
	Name   string // what the mark names, if that is not a source
}

// MaxName bounds the bytes between brackets; a longer text is not a name.
const MaxName = 200

// candidate is a bracket that may be a mark.
type candidate struct {
	offset, text int  // where it begins, and the text in it
	brace        bool // {{…}}
	indexed      bool // an identifier stands before it
	first        bool // first in its line
	image        bool
}

// finder collects the marks of one text.
type finder struct {
	sources sources
	found   []Mark
	prior   []Mark            // "[a]" of "[a][b]": marks if [b] is one
	beside  bool              // "[text]" was no mark, and neither is a bracket that follows at once
	notes   map[string][]int  // offsets of footnotes that do not name a source
	defined map[string]string // definitions of links and footnotes, by their texts
}

// Of returns the marks of a text for the sources with these names, and those that name something else, sorted by offset.
// If the model was given the sources' numbers, from 1, the numbers count too.
func Of(text string, names []string, numbered bool) []Mark {
	f := finder{sources: sources{names, numbered}, notes: map[string][]int{}, defined: map[string]string{}}
	var code decode.Code
	var c candidate
	var before byte
	open, blank := false, true // inside a candidate; so far the line has only blanks
	for i := range len(text) {
		b := text[i]
		inside := (b == '[' || b == '{') && code.Inside() // this may only be asked before such a byte
		code.Step(b)
		switch {
		case b == '\n':
			open, f.beside, f.prior = false, false, nil
		case open && !c.brace && b == ']':
			open = false
			f.decide(c, text[c.text:i], text[i+1:])
		case open && c.brace && b == '}' && before == '}':
			open = false
			f.cite(c, strings.TrimSpace(text[c.text:i-1]))
		case b == '[' && !inside && before != '\\':
			open, c = true, candidate{offset: i, text: i + 1, indexed: identifier(before), first: blank, image: before == '!'}
		case b == '{' && before == '{' && !inside:
			open, c = true, candidate{offset: i - 1, text: i + 1, brace: true}
		case open:
			open = i-c.text < MaxName
		case b != ']':
			f.beside = false
		}
		blank = b == '\n' || blank && (b == ' ' || b == '\t')
		before = b
	}
	for id, offsets := range f.notes {
		name, known := f.defined["^"+id]
		if !known {
			name = id
		}
		for _, pos := range offsets {
			f.stranger(pos, name)
		}
	}
	f.found = slices.DeleteFunc(f.found, func(m Mark) bool { return m.Source < 0 && f.defined[m.Name] != "" }) // links
	stable.Sort(f.found, func(a, b Mark) int { return a.Offset - b.Offset })
	return f.found
}

// Listed returns what an entry of a list of sources cites: a mark, as [Of] finds it, or else the whole entry.
func Listed(entry string, names []string, numbered bool) []Mark {
	f, c := finder{sources: sources{names, numbered}}, candidate{}
	if strings.LastIndexByte(entry, '[') == 0 && strings.IndexByte(entry, ']') == len(entry)-1 {
		entry = entry[1 : len(entry)-1]
	}
	f.found = c.marks(f.sources.cited(entry, false))
	if f.found == nil && len(entry) <= MaxName && !strings.ContainsFunc(entry, unicode.IsControl) {
		f.strangers(c, entry)
	}
	return f.found
}

// stranger adds a mark that names no source. Boxes, numbers and empty brackets name nothing.
func (f *finder) stranger(offset int, name string) {
	if name = bare(name); len(name) > 1 && strings.ContainsFunc(name, unicode.IsLetter) {
		f.found = append(f.found, Mark{-1, offset, name})
	}
}

// cite takes the text of {{…}}.
func (f *finder) cite(c candidate, text string) {
	if named, ok := strings.CutPrefix(strings.ToLower(text), "cite:"); ok {
		cited := f.sources.cited(named, false)
		if f.found = append(f.found, c.marks(cited)...); cited == nil {
			f.stranger(c.offset, named)
		}
	}
}

// decide decides whether […] is a mark. The byte after it tells a link from a citation.
func (f *finder) decide(c candidate, text, rest string) {
	text = strings.TrimSpace(text)
	id, footnote := strings.CutPrefix(text, "^")
	line, _, _ := strings.Cut(rest, "\n")
	b := (line + "\n")[0]
	link := b == '(' || b == ':' && c.first
	switch {
	case footnote && b == ':' && c.first:
		f.define(id, line)
		return
	case c.image, f.beside, link && !footnote:
		if f.prior, f.beside = nil, true; b == ':' {
			f.defined[bare(text)] = line
		}
		return
	}
	cited := f.sources.cited(text, c.indexed)
	if cited == nil && footnote {
		f.notes[id] = append(f.notes[id], c.offset)
	}
	switch {
	case cited == nil:
		if f.prior, f.beside = nil, !footnote; !footnote && b != '[' && !(c.indexed && index.MatchString(text)) {
			f.strangers(c, text)
		}
	case b == '[' && !footnote:
		f.prior = append(f.prior, c.marks(cited)...)
	default:
		f.found, f.prior = append(append(f.found, f.prior...), c.marks(cited)...), nil
	}
}

// strangers adds what a bracket names: several things if one of them is a source.
func (f *finder) strangers(c candidate, text string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' })
	if !slices.ContainsFunc(parts, func(part string) bool { return f.sources.named(part, c.indexed) >= 0 }) {
		parts = []string{text}
	}
	for _, part := range parts {
		f.stranger(c.offset, part)
	}
}

func (c candidate) marks(cited []int) (out []Mark) {
	for _, s := range cited {
		out = append(out, Mark{Source: s, Offset: c.offset})
	}
	return out
}

// define makes marks of the footnotes before a line that defines them.
func (f *finder) define(id, line string) {
	line = head(line)
	s := f.sources.named(line, false)
	if s < 0 {
		f.defined["^"+id] = line
		return
	}
	for _, pos := range f.notes[id] {
		f.found = append(f.found, Mark{Source: s, Offset: pos})
	}
	delete(f.notes, id)
}

// identifier reports whether the byte may end an identifier or a call.
func identifier(b byte) bool { return b == ')' || index.Match([]byte{b}) }

// sources are the names that an answer may cite.
type sources struct {
	names    []string
	numbered bool
}

// cited returns the sources that the text between brackets names: one, or several separated by commas. It returns nil
// if any part names no source. indexed: an identifier stands before the bracket, so a number or a word is an index.
func (s sources) cited(text string, indexed bool) []int {
	if i := s.named(text, indexed); i >= 0 {
		return []int{i}
	}
	var out []int
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		i := s.named(part, indexed)
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}

var (
	prefix = regexp.MustCompile(`^(?i)(cite|source|citation):\s*`)
	place  = regexp.MustCompile(`(#.*|(:[0-9L–-]+)+)$`) // position in a file: main.go:12-20, main.go#L12
	index  = regexp.MustCompile(`^[0-9A-Za-z_]+$`)
)

// named returns the source with the name or number, or -1.
func (s sources) named(text string, indexed bool) int {
	text, footnote := strings.CutPrefix(strings.Trim(text, marking), "^")
	bare := prefix.ReplaceAllString(text, "")
	if indexed && !footnote && bare == text && index.MatchString(text) {
		return -1
	}
	if i := s.lookup(bare); i >= 0 {
		return i
	}
	if n, err := strconv.Atoi(bare); err == nil && s.numbered && n >= 1 && n <= len(s.names) {
		return n - 1
	}
	return s.lookup(place.ReplaceAllString(bare, ""))
}

// lookup prefers the exact name to one that differs in case or blanks.
func (s sources) lookup(name string) int {
	if i := slices.Index(s.names, name); i >= 0 {
		return i
	}
	name = strings.Join(strings.Fields(name), " ")
	return slices.IndexFunc(s.names, func(n string) bool { return strings.EqualFold(strings.Join(strings.Fields(n), " "), name) })
}

// marking is what stands around a name in Markdown.
const marking = " \t`*_\"'"

// bare returns the name without what marks it as one.
func bare(text string) string {
	return prefix.ReplaceAllString(strings.TrimPrefix(strings.Trim(text, marking), "^"), "")
}

// head returns the name at the beginning of a footnote's definition.
func head(text string) string {
	text = strings.TrimLeft(text, ":[< \t")
	if end := strings.IndexAny(text, ",;]()>"); end >= 0 {
		text = text[:end]
	}
	return text
}
