package words

import (
	_ "embed"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/packed"
)

//go:embed words.txt.gz
var text string

// List is a list of words and phrases that the ranking looks for.
type List = prose.List

var lists = prose.Lists(string(packed.Text(text)))

// Of returns the list with the name. It panics if there is none.
func Of(name string) List {
	if lists[name] == nil {
		panic("words.txt has no list " + name)
	}
	return lists[name]
}

// Find returns the list with the name, or nil.
func Find(name string) List { return lists[name] }
