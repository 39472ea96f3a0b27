package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// The reply that a stream follows has no result, however quick the run was: it would come twice, and late.
func TestStreamReplyHasNoResult(t *testing.T) {
	over := messages.State{RunID: "r_1", Status: messages.Completed,
		End: &messages.End{Result: json.RawMessage(`["long"]`)}}
	text, err := json.Marshal(streamReply(new(wire.Exchange), over, json.RawMessage(`"t"`)))
	if err != nil || strings.Contains(string(text), "long") || !strings.Contains(string(text), `"streamId":"r_1"`) {
		t.Errorf("%s, %v", text, err)
	}
}
