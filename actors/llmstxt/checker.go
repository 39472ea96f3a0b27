package llmstxt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
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
	if _, problems := check.Parse(string(data)); len(problems) > 0 {
		return fmt.Errorf("not a valid llms.txt: %v", problems[0])
	}
	return nil
}

func judgeJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(new(render.Document))
}
