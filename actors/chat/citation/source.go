package citation

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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
	text, footnote := strings.CutPrefix(strings.Trim(text, " \t`*_\"'"), "^")
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

// defined returns the source at the beginning of a footnote's definition, or -1.
func (s sources) defined(text string) int {
	text = strings.TrimLeft(text, ":[< \t")
	if end := strings.IndexAny(text, ",;]()>"); end >= 0 {
		text = text[:end]
	}
	return s.named(text, false)
}
