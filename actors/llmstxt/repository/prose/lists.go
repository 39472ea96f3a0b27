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
