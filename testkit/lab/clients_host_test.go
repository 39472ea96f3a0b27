package lab_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// turn is one time that the host asked its model.
type turn struct {
	Tools  []offeredTool
	Given  string // what the last call gave the model
	Failed bool
	Next   string // which tool it calls
}

type offeredTool struct {
	Name, Description string
	InputSchema       json.RawMessage
}

// A model behind a real host's client gets on by what it is given alone: it finds the run and the file in a result, and
// learns from an error what to do instead.
func testHost(t *testing.T, at kitTarget) {
	turns := nodeLines[turn](t, at, "host.mjs")
	if len(turns) != 8 {
		t.Fatalf("the model was asked %d times", len(turns))
	}
	for _, name := range []string{"count", "run_answer", "run_events", "run_read", "run_start", "run_wait", "write"} {
		if !slices.ContainsFunc(turns[0].Tools, func(f offeredTool) bool {
			return f.Name == name && f.Description != "" && bytes.Contains(f.InputSchema, []byte(`"type":"object"`))
		}) {
			t.Errorf("the model is not offered %s: %+v", name, turns[0].Tools)
		}
	}
	for i, want := range [][]string{
		1: {"write", "completed", "note.txt (4 bytes)", "run_read {run_id, name}"},
		2: {"kept"},
		3: {"run_wait"},
		4: {"count", "completed"},
		5: {`"type":"run.queued"`, `"done":`, `"next":`},
		6: {"run_id is missing", "run is not known: there are run_id"},
		7: {"crash", "failed, panic"},
	} {
		for _, part := range want {
			if !strings.Contains(turns[i].Given, part) {
				t.Errorf("turn %d: the model is given %q, without %q", i, turns[i].Given, part)
			}
		}
		if len(turns[i].Given)/4 >= 1500 {
			t.Errorf("turn %d: the model is given %d tokens", i, len(turns[i].Given)/4)
		}
	}
}
