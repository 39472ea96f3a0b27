package decode

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/messages/model"
)

// CallDelta is one element of delta.tool_calls as servers send it. Its fields are raw since none has one type on all
// servers: an index may be a number, a string or missing, arguments a string or an object.
type CallDelta struct {
	Index    json.RawMessage `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function CallFunction    `json:"function"`
}

// CallFunction is the function of a CallDelta.
type CallFunction struct {
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Calls puts tool calls together from their fragments. The zero value is ready for use.
type Calls struct{}

// Push takes a fragment and gives what it adds, false where it adds nothing.
func (c *Calls) Push(d CallDelta) (model.CallDelta, bool) { return model.CallDelta{}, false }

// Done gives the calls in the order of their first fragments. A call without an id gets one that is unique in the
// answer, one without arguments "{}". Arguments are as they came: whether they are JSON is for the caller to see.
func (c *Calls) Done() []model.ToolCall { return nil }
