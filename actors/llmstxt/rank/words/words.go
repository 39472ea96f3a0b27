package words

import (
	_ "embed"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

//go:embed words.txt
var text string

// List is one of the lists.
type List = prose.List

var lists = prose.Lists(text)

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
