package words

import (
	_ "embed"

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
