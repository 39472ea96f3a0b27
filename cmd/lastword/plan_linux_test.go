package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// A plan that asks does so on the terminal, its sub-plans too, until the answer fits. Ctrl-C at a question cancels it.
func TestPlanAsks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(`
steps:
  - {name: sure, ask: {prompt: "Publish?"}}
  - name: many
    needs: sure
    plan:
      steps: [{name: n, ask: {prompt: "How many?", schema: {type: integer, maximum: 9}}}]
      result: ${steps.n.result}
result: "${steps.many.result} copies"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, nil, "lastword", "plan", "run", file)
	s.drawn = true
	for _, turn := range [][2]string{{"? Publish? (y or n)", "perhaps\r"}, {"answer y or n", "y\r"}, {"? How many?", "12\r"},
		{"a whole number, at most 9", "3\r"}} {
		s.shows(turn[0])
		s.keys(turn[1])
	}
	s.shows("3 copies")
	s.ends(exit.Completed)

	s = start(t, nil, "lastword", "plan", "run", file)
	s.drawn = true
	s.shows("? Publish? (y or n)")
	s.keys("\x03")
	s.ends(exit.Interrupted)
}
