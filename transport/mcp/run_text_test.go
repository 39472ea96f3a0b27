package mcp

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// What a run says is the last text that it finished; of texts that it did not, the longest. Thoughts are not said.
func TestWhatARunHasSaid(t *testing.T) {
	for streams, want := range map[string]string{
		`[]`: "",
		`[{"text":"the first one","closed":true},{"text":"last","closed":true}]`:  "last",
		`[{"text":"done","closed":true},{"text":"longer, but cut off"}]`:          "done",
		`[{"text":"longer, but cut off"},{"text":"done","closed":true}]`:          "done",
		`[{"text":"much was said"},{"text":"little"}]`:                            "much was said",
		`[{"text":"little"},{"text":"much was said"}]`:                            "much was said",
		`[{"text":"one"},{"text":"two"}]`:                                         "one",
		`[{"text":"x","closed":true},{"text":"hm","closed":true,"thought":true}]`: "x",
		`[{"text":"hm","thought":true}]`:                                          "",
	} {
		var state messages.State
		fatal.IfError(t, json.Unmarshal([]byte(streams), &state.Streams))
		if got := lastText(state); got != want {
			t.Errorf("%s: %q, want %q", streams, got, want)
		}
	}
}
