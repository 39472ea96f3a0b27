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

// Lists reads lists by their names. A list begins with "= " and its name; its words follow, with "|" between and at the
// end of a line. Spaces around a word are a part of it, and a line that begins with "#" is none.
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

// Has holds for a word of the list.
func (l List) Has(s string) bool { return slices.Contains(l, s) }

// In holds where the text has one of them anywhere.
func (l List) In(s string) bool { return ContainsAny(s, l...) }

// Start holds where the text begins with one of them.
func (l List) Start(s string) bool { return StartsWithAny(s, l...) }

// End holds where the text ends with one of them.
func (l List) End(s string) bool { return EndsWithAny(s, l...) }

// Word is the first of them that the text has as a word, "" for none.
func (l List) Word(s string) string {
	if i := slices.IndexFunc(l, func(w string) bool { return HasWords(s, w) }); i >= 0 {
		return l[i]
	}
	return ""
}
