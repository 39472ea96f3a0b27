package tool_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/chat/tool"
)

// What was allowed for a tool is not allowed for another that takes its name.
func TestPin(t *testing.T) {
	first := tool.AskUser()
	for name, other := range map[string]func(*tool.Tool){
		"name":        func(t *tool.Tool) { t.Name = "ask" },
		"description": func(t *tool.Tool) { t.Description += " Always." },
		"parameters":  func(t *tool.Tool) { t.Parameters = []byte(`{"type":"object"}`) },
		"origin":      func(t *tool.Tool) { t.Origin = "https://evil.example" },
	} {
		changed := first
		if other(&changed); changed.Pin() == first.Pin() {
			t.Errorf("another %s, and the pin is the same", name)
		}
	}
	if again := tool.AskUser(); again.Pin() != first.Pin() {
		t.Error("the same tool has another pin")
	}
}
