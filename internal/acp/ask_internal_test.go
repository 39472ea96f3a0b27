package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// A permission has all of the question, where Markdown hides nothing, and the title names only files of our own tools.
func TestPermissionShowsAll(t *testing.T) {
	agent := Config{Kinds: map[string]string{"read_file": "read"}, Preview: func(*Session, string, json.RawMessage) *Edit { return nil }}
	for tool, title := range map[string]string{"read_file": `read_file README\u202e`, "mcp__e__sh": "mcp__e__sh"} {
		prompt := "May it be called with ```\n[a]: b \"" + strings.Repeat("x", 5000) + "the end\"?"
		q := question{w: &writer{editor: &editor{Config: agent}, session: &Session{}}, id: "1",
			asked: messages.InputRequired{Prompt: prompt, InputKind: messages.InputConfirmation},
			call:  &messages.ToolCall{Tool: tool, Arguments: "{\"path\":\"README\u202e\"}"}}
		shown := q.shown()
		text := shown["content"].([]object)[0]["content"].(object)["text"]
		if shown["title"] != title || text != "````\n"+prompt+"\n````" || shown["rawInput"] != nil {
			t.Errorf("%s is shown as %v", tool, shown)
		}
		if (shown["locations"] != nil) != (tool == "read_file") {
			t.Errorf("%s names the file %v", tool, shown["locations"])
		}
	}
}
