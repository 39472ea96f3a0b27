package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
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

// A client that reconnects goes on with the options of its call.
func TestOptionsInTheIDsOfEvents(t *testing.T) {
	for _, o := range []StreamOptions{{}, {Level: "milestone"}, {Kinds: []messages.Kind{"log", "text.delta"}, Rate: 0.5}} {
		text, _ := strings.CutPrefix(o.text(), "?")
		if got := parseOptions(text); !reflect.DeepEqual(got, o) {
			t.Errorf("%q is read as %+v, want %+v", o.text(), got, o)
		}
	}
}
