package llmstxt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
)

// Names of the files, apart from nodes/<id>.md of the graph.
const (
	NameTxt   = "llms.txt"
	NameFull  = "llms-full.txt"
	NameCtx   = "llms-ctx.txt"
	NameJSON  = "llms.json"
	NameGraph = "repo.graph.json"
	NameForce = "repo.force.json"
)

// IsPage reports whether a file with the name is the page of a package in the graph.
func IsPage(name string) bool { return graph.IsPage(name) }

// OfGraph reports whether a file with the name belongs to the graph of packages.
func OfGraph(name string) bool { return name == NameGraph || name == NameForce || graph.IsPage(name) }

// Checker checks a file while it is written. Verdict returns an error if the file must not get its name.
type Checker struct {
	io.Writer
	Verdict func() error
}

// CheckerOf returns a Checker for a file, or nil if no file has the name.
func CheckerOf(name string) *Checker {
	switch {
	case name == NameTxt:
		return judged(judgeTxt)
	case name == NameJSON:
		return judged(judgeJSON)
	case name == NameGraph:
		return judged(graph.Check)
	case name == NameForce:
		return judged(graph.CheckForce)
	case graph.IsPage(name):
		return judged(graph.CheckPage)
	case name == NameFull || name == NameCtx: // render makes them whole, and they may be too large for memory
		return &Checker{io.Discard, func() error { return nil }}
	}
	return nil
}

// judged makes a Checker that checks a file once it is complete.
func judged(judge func(data []byte) error) *Checker {
	var b bytes.Buffer
	return &Checker{&b, func() error { return judge(b.Bytes()) }}
}

func judgeTxt(data []byte) error {
	_, problems := Parse(string(data))
	for _, p := range problems {
		if !p.Rule.Strict() {
			return fmt.Errorf("not a valid llms.txt: %v", p)
		}
	}
	return nil
}

func judgeJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(new(Document))
}

// Line makes a single clean line, without secrets, of any text, as the files have them.
func Line(text string) string { return sanitize.Liner()(text) }

// CountTokens counts the tokens of a text, by o200k_base, as the files do.
func CountTokens(text string) int { return tokens.Count(text) }
