package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// A name that could steer a terminal is refused when it is read and when it is recorded; a text may hold anything.
func TestNamesThatSteer(t *testing.T) {
	for text, ok := range map[string]bool{"plain": true, "Grüße ✓": true, `a\u001b]0;x`: false, `a\u202e`: false, "a\u202e": false,
		"a\u009b2J": false, "a\u007f": false, `a\n`: false, "\u061c": false} {
		for form, name := range map[string]bool{
			`{"run_id":"X","seq":1,"ts":"2026-11-28T19:00:00Z","type":"run.started","payload":{"node":"n"}}`:                                    true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"run.queued","payload":{"job":"j","mode":"detached","labels":{"X":"v"}}}`: true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"text.delta","payload":{"stream":"X","text":"t"}}`:                        true,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"text.delta","payload":{"stream":"s","text":"X"}}`:                        false,
			`{"run_id":"r","seq":1,"ts":"2026-11-28T19:00:00Z","type":"new.kind","payload":{"x":"X"}}`:                                          false,
		} {
			var e messages.Event
			line := []byte(strings.Replace(form, "X", text, 1))
			if err := json.Unmarshal(line, &e); (err == nil) != (ok || !name) {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if err := messages.Check(messages.TaskStarted{Task: "a\x1b"}); messages.CodeOf(err) != messages.CauseInvalidInput {
		t.Errorf("recording: %v", err)
	}
	if err := messages.Check(messages.TextDelta{Stream: "s", Text: "a\x1b"}); err != nil {
		t.Errorf("recording a text: %v", err)
	}
	var state messages.State
	must(t, json.Unmarshal([]byte(`{"run_id":"r","artifacts":[{"name":"a\u001b"}],"streams":[{"stream":"s","text":"\u001b"}]}`), &state))
	if messages.CheckNames(&state) == nil {
		t.Error("a State keeps the name of an artifact")
	}
	if state.Artifacts = nil; messages.CheckNames(&state) != nil {
		t.Error("the text of a stream is refused")
	}
}
