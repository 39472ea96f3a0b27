package language

import (
	"context"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/surface"
)

// Language says how to read the files of a language. The zero value reads nothing.
type Language struct {
	Name string // as in package scan
	// Outline returns the public surface. The text has no byte order mark, its lines end with "\n", it is valid
	// UTF-8, and at most surface.MaxBytes long.
	Outline func(ctx context.Context, text []byte) surface.Outline
	// Imports returns the imports of a line as paths; relative ones begin with a dot. If a line may name either
	// something in a file or the file itself, both follow each other.
	Imports func(line string) []string
	// Code returns the text without docstrings, and without comments on their own lines, because examples in them
	// import what the file does not.
	Code func(text string) string
	// Note returns the first sentence of the description at the top of a file.
	Note func(text string) string

	// Folders returns the folders where imports are searched, the most likely first. unit is the folder of the
	// package's manifest.
	Folders func(file, unit string) []string

	Family     string   // joins languages whose files import each other; "" for a language by itself
	Ecosystems []string // ecosystems whose packages are written in it, the main one first
	Tests      []string // texts that occur in tests
}

// IsTest reports whether a text is a test, by its content.
func (l Language) IsTest(text string) bool { return prose.ContainsAny(text, l.Tests...) }
