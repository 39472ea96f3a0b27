package prose

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed phrases.txt
var phrasesText string

var phrases = Lists(phrasesText)

// List is a list of words or phrases.
type List []string

// Lists parses named lists. A list begins with "= " and its name. Its words follow, separated by "|" and line ends.
// Spaces around a word are part of it. Lines that begin with "#" are ignored.
func Lists(text string) map[string]List {
	all := make(map[string]List)
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "= "); ok {
			name = head
		} else if line != "" && line[0] != '#' {
			all[name] = append(all[name], strings.Split(strings.TrimSuffix(line, "|"), "|")...)
		}
	}
	return all
}

// Has reports whether s is in the list.
func (l List) Has(s string) bool { return slices.Contains(l, s) }

// In reports whether the text contains any of the words.
func (l List) In(s string) bool { return ContainsAny(s, l...) }

// Start reports whether the text begins with any of the words.
func (l List) Start(s string) bool { return StartsWithAny(s, l...) }

// End reports whether the text ends with any of the words.
func (l List) End(s string) bool { return EndsWithAny(s, l...) }

// Word returns the first entry that the text contains as a whole word, or "".
func (l List) Word(s string) string {
	if i := slices.IndexFunc(l, func(w string) bool { return HasWords(s, w) }); i >= 0 {
		return l[i]
	}
	return ""
}

// HasWords reports whether the text contains the whole words. The last one may have an ending.
func HasWords(text, words string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		from += i
		rest := text[from+len(words):]
		ending := len(rest) - len(strings.TrimLeftFunc(rest, IsIdent))
		if !IsIdent(rune(ByteAt(text, from-1))) && ending <= 2 {
			return true
		}
	}
}

// IsIdent reports whether a character may be part of an identifier.
func IsIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// ByteAt returns the byte at i; outside of the text it returns a space.
func ByteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}
