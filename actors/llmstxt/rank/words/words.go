package words

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

//go:embed words.txt
var text string

// List is one of the lists.
type List []string

var lists = func() map[string]List {
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
}()

// Of gives the list of that name, or panics.
func Of(name string) List {
	if lists[name] == nil {
		panic("words.txt has no list " + name)
	}
	return lists[name]
}

// Find gives the list of that name, nil where there is none.
func Find(name string) List { return lists[name] }

// Table is a list of "key=value".
func Table(name string) map[string]string {
	table := make(map[string]string)
	for _, entry := range Of(name) {
		key, value, _ := strings.Cut(entry, "=")
		table[key] = value
	}
	return table
}

// Has holds for a word of the list.
func (l List) Has(s string) bool { return slices.Contains(l, s) }

// In holds where the text has one of them anywhere.
func (l List) In(s string) bool { return prose.ContainsAny(s, l...) }

// Start holds where the text begins with one of them.
func (l List) Start(s string) bool { return prose.StartsWithAny(s, l...) }

// End holds where the text ends with one of them.
func (l List) End(s string) bool { return prose.EndsWithAny(s, l...) }

// Word is the first of them that the text has as a word, "" for none.
func (l List) Word(s string) string {
	if i := slices.IndexFunc(l, func(w string) bool { return prose.HasWords(s, w) }); i >= 0 {
		return l[i]
	}
	return ""
}
