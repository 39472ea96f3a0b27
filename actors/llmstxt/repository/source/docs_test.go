package source_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
)

// TestDocsAreAboutTheirSymbols shows what of a comment is left as a doc.
func TestDocsAreAboutTheirSymbols(t *testing.T) {
	for comment, want := range map[string]string{
		"/////   Frob   //////":           "",
		"// base type ////":               "",
		"// frob - turns widgets around":  "turns widgets around",
		"/** Turns widgets around. */":    "Turns widgets around.",
		"/** ## Widget Structure */":      "",
		"/** # Use\n * Turns widgets. */": "Turns widgets.",
		"// Turns [widgets](http://w.example) of [`Frob`][frob::Frob], see [Spoon.turn], [like] this.": "Turns widgets of `Frob`, see `Spoon.turn`, [like] this.",
		"// Turns [widgets](http://w.example)[spoons](http://s.example).":                              "Turns widgetsspoons.",
		"// Writes the {common log format}[http://log.example] of Frob.":                               "Writes the common log format of Frob.",
		"// Ready? Turns widgets when all is set.":                                                     "Turns widgets when all is set.",
	} {
		o, _ := source.Outline(t.Context(), "JavaScript", []byte(comment+"\nexport function frob() {}\n"))
		if len(o.Symbols) != 1 || o.Symbols[0].Doc != want {
			t.Errorf("%s: %+v, want %q", comment, o.Symbols, want)
		}
	}
}

// TestGoBodiesDoNotCount holds what is read of formatted and of other Go to the same.
func TestGoBodiesDoNotCount(t *testing.T) {
	const source = `package a

// Frob frobs.
func Frob(
	n int,
) error {
	s := ` + "`" + `
}
func Fake() {
` + "`" + `
	_ = s
	return nil
}

func Short() {}

// T is one.
type T struct{ A int }

// Turn turns.
func (T) Turn() (int, error) {
	for {
	}
}
`
	o := golang.Package(t.Context(), []golang.Source{{Text: []byte(source)}})
	want := []struct {
		name string
		line int
	}{{"Frob", 4}, {"Short", 15}, {"T", 18}, {"T.Turn", 21}}
	if len(o.Symbols) != len(want) {
		t.Fatalf("%+v", o.Symbols)
	}
	for i, s := range o.Symbols {
		if s.Name != want[i].name || s.Line != want[i].line {
			t.Errorf("%s at %d, want %v", s.Name, s.Line, want[i])
		}
	}
}
