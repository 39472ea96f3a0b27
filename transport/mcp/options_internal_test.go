package mcp

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// A client that reconnects goes on with the options of its call.
func TestOptionsInTheIDsOfEvents(t *testing.T) {
	for _, o := range []StreamOptions{{}, {Level: "milestone"}, {Kinds: []messages.Kind{"log", "text.delta"}, Rate: 0.5}} {
		text, _ := strings.CutPrefix(o.text(), "?")
		if got := parseOptions(text); !reflect.DeepEqual(got, o) {
			t.Errorf("%q is read as %+v, want %+v", o.text(), got, o)
		}
	}
}
