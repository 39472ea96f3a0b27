package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// mostOfTools is the most bytes that the list of tools takes: models read all of it before they do anything.
const mostOfTools = 25_000

// What clients are told of the tools changes only where somebody wanted it to.
func TestListedTools(t *testing.T) {
	s := speak(t, t.TempDir())
	var list struct{ Tools json.RawMessage }
	result := s.ask("tools/list", `{}`).Result
	s.ends()
	if err := json.Unmarshal(result, &list); err != nil {
		t.Fatal(err)
	}
	if len(result) > mostOfTools {
		t.Errorf("the list of tools has %d bytes, and may have %d", len(result), mostOfTools)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, list.Tools, "", "  "); err != nil {
		t.Fatal(err)
	}
	heldTo(t, "testdata/tools.golden.json", b.String()+"\n")
}
