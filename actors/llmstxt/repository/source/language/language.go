package language

import (
	"context"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Language is how the files of a language are read. Its zero value reads nothing.
type Language struct {
	Name string // as package scan has it
	// Outline reads the public surface. The text has no byte order mark, ends every line with "\n", is valid UTF-8
	// and at most surface.MaxBytes long.
	Outline func(ctx context.Context, text []byte) surface.Outline
	// Imports gives what a line imports, each as a path: relative ones begin with a dot. Where a line may name a thing
	// in a file, or the file, both follow each other.
	Imports func(line string) []string
	// Reexports gives what a line exports the whole of. Where it is set, names are public by what exports them.
	Reexports func(line string) []string
	// Code is the text without docstrings and comments on lines of their own: examples in them import what the file
	// does not.
	Code func(text string) string
	// Note is the first sentence of what a file says of itself at its top.
	Note func(text string) string
	// Private holds for a text in which nothing is public; whole says that it is all of the file.
	Private func(text string, whole bool) bool

	// Folders are those below which an import is looked for, the likeliest first. The package of the file has its
	// manifest in the folder unit.
	Folders func(file, unit string) []string

	Family     string   // joins the languages whose files import each other; "" for one alone
	Ecosystems []string // whose packages are written in it, the first one before all
	Tests      []string // what the text of a test has in it
	Classes    bool     // a file holds the class that it is named after
}

// IsPrivate holds for a file nothing of which others can use, as far as the language tells.
func (l Language) IsPrivate(text string, whole bool) bool {
	return l.Private != nil && l.Private(text, whole)
}

// Without holds where a text has none of the marks. A longer file than was read may have one further down, unless a
// class was declared already.
func Without(marks ...string) func(text string, whole bool) bool {
	return func(text string, whole bool) bool {
		return (whole || strings.Contains(text, "class ")) && !prose.ContainsAny(text, marks...)
	}
}

// IsTest tells a test by what it has in it.
func (l Language) IsTest(text string) bool { return prose.ContainsAny(text, l.Tests...) }
