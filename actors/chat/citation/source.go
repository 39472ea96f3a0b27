package citation

import (
	"slices"
	"strconv"
	"strings"
)

// sources are the names by which an answer may cite.
type sources struct {
	names         []string
	exact, folded map[string]int
	numbers       int // how many have a number
}

func index(names []string, numbered bool) sources {
	s := sources{names: names, exact: map[string]int{}, folded: map[string]int{}}
	for i, name := range slices.Backward(names) {
		s.exact[name], s.folded[fold(name)] = i, i
	}
	if numbered {
		s.numbers = len(names)
	}
	return s
}

func fold(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// cited are the sources that the text between brackets names: one, or several with commas between; nil if any part
// names none. indexed: an identifier stands before the bracket, so that a number or a word is an index.
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

// named is the source of a name or a number, or -1.
func (s sources) named(text string, indexed bool) int {
	text = strings.Trim(text, " \t`*_\"'")
	text, footnote := strings.CutPrefix(text, "^")
	if prefix, name, ok := strings.Cut(text, ":"); ok && slices.Contains([]string{"cite", "source", "citation"}, strings.ToLower(prefix)) {
		text, indexed = strings.TrimSpace(name), false
	}
	if indexed && !footnote && !strings.ContainsFunc(text, func(r rune) bool { return !word(r) }) {
		return -1
	}
	if i := s.lookup(text); i >= 0 {
		return i
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= s.numbers {
		return n - 1
	}
	return s.lookup(withoutPlace(text))
}

func (s sources) lookup(name string) int {
	if i, ok := s.exact[name]; ok && name != "" {
		return i
	}
	if i, ok := s.folded[fold(name)]; ok && name != "" {
		return i
	}
	return -1
}

// withoutPlace is the name of a file without the place in it: main.go:12-20, main.go#L12.
func withoutPlace(text string) string {
	name, _, _ := strings.Cut(text, "#")
	for {
		head := strings.TrimRight(name, "0123456789-–L")
		if len(head) == len(name) || !strings.HasSuffix(head, ":") {
			return name
		}
		name = head[:len(head)-1]
	}
}

// defined is the source that the definition of a footnote begins with, or -1.
func (s sources) defined(text string) int {
	text = strings.TrimLeft(text, "[<`*_\" ")
	best, longest := -1, 0
	for i, name := range s.names {
		if len(name) > longest && len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) && !continues(text[len(name):]) {
			best, longest = i, len(name)
		}
	}
	return best
}

// continues reports whether a name goes on: a.go is not the beginning of a.gob or a.go.txt.
func continues(rest string) bool {
	if rest == "" {
		return false
	}
	if word(rune(rest[0])) || rest[0] >= 0x80 {
		return true
	}
	return len(rest) > 1 && strings.ContainsRune("./-", rune(rest[0])) && word(rune(rest[1]))
}

func identifier(b byte) bool { return word(rune(b)) || b == ')' }

// word reports whether an identifier may have the character.
func word(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
