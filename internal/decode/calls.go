package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// CallDelta is one element of delta.tool_calls. Its fields are raw because servers disagree on their types: an index
// may be a number, a string or missing, and arguments a string or an object.
type CallDelta struct {
	Index, ID, Name, Arguments json.RawMessage
	// Extra is a JSON object: the other members.
	Extra string
}

// Calls joins the fragments of tool calls. The zero value is ready for use.
//
// A fragment belongs to the latest call with its index or, if it has none, to the call with its id, or else to the
// latest call. It begins a new call if there is none, or if that call has another id and is past its beginning: some
// servers send parallel calls with one index. Fragments of a name join, and a repeated name or object counts once.
type Calls struct {
	calls []*call
	ids   map[string]int // the latest call of each id
	index map[int]int    // the latest call of each index
}

// call is one tool call as far as it has arrived.
type call struct {
	id, name  string // as they came
	index     int    // the last one sent, -1 for none
	unique    string // the id, or one made of it that no earlier call has
	arguments strings.Builder
	extra     string
	unescape  Unescape
	extent    extent
}

// Push adds a fragment and returns what it contributes. ok is false if it contributes nothing. Arguments that are an
// object come whole.
func (c *Calls) Push(d CallDelta) (model.CallDelta, bool) {
	f := read(d)
	if f.id == "" && f.name == "" && len(f.arguments) == 0 && d.Extra == "" {
		return model.CallDelta{}, false
	}
	number := c.find(f)
	a := c.calls[number]
	had := a.title()
	if f.name != a.name && (!a.extent.began || a.name == "") { // some servers send the name last
		a.name += f.name
	}
	news := a.title() != had || a.id == "" && f.id != ""
	if a.id == "" && f.id != "" {
		a.id, a.unique = f.id, c.free(f.id)
	}
	c.remember(number, f)
	if d.Extra != "" {
		a.extra = string(model.Merged(json.RawMessage(d.Extra), a.extra))
	}
	piece := a.add(f.arguments)
	return model.CallDelta{Number: number, ID: a.unique, Name: a.title(), Arguments: piece}, news || piece != ""
}

// title is the name without the markup of a harmony message, which leaks into names.
func (a *call) title() string {
	name, _, _ := strings.Cut(a.name, "<|")
	return name
}

// Done returns the calls in the order of their first fragments. A call without an id gets one that is unique in the
// answer, and a call without arguments gets "{}". Done does not check whether the arguments are JSON.
func (c *Calls) Done() []model.ToolCall {
	var done []model.ToolCall
	for i, a := range c.calls {
		a.arguments.WriteString(a.unescape.Close())
		arguments := a.arguments.String()
		if strings.Trim(arguments, blanks) == "" {
			arguments = "{}"
		}
		if a.unique == "" {
			a.unique = c.free(fmt.Sprintf("call_%d", i))
		}
		done = append(done, model.ToolCall{ID: a.unique, Name: a.title(), Arguments: arguments, Extra: a.extra})
	}
	return done
}

// free returns an id that no call has: the given one, or one made of it.
func (c *Calls) free(id string) string {
	for slices.ContainsFunc(c.calls, func(a *call) bool { return a.unique == id }) {
		id += "_"
	}
	return id
}

// find returns the number of the call that the fragment belongs to.
func (c *Calls) find(f fragment) int {
	number := c.candidate(f)
	if number >= 0 && c.calls[number].takes(f) {
		return number
	}
	c.calls = append(c.calls, &call{index: -1})
	return len(c.calls) - 1
}

// candidate returns the number of the call that the index, or else the id, suggests, or -1.
func (c *Calls) candidate(f fragment) int {
	if number, known := c.index[f.index]; known {
		if same, known := c.ids[f.id]; known && c.calls[same].index == f.index {
			return same // several calls have this index
		}
		return number
	}
	number, known := c.ids[f.id]
	switch {
	case known && (f.index < 0 || c.calls[number].index < 0):
		return number
	case f.index < 0 && f.id == "", f.index < 0 && !known:
		return len(c.calls) - 1
	}
	return -1
}

// remember records the id and the index by which later fragments name the call.
func (c *Calls) remember(number int, f fragment) {
	if c.ids == nil {
		c.ids, c.index = make(map[string]int), make(map[int]int)
	}
	if f.id != "" {
		c.ids[f.id] = number
	}
	if f.index >= 0 {
		c.calls[number].index = f.index
		c.index[f.index] = number
	}
}

// takes reports whether the fragment can belong to the call.
func (a *call) takes(f fragment) bool {
	switch {
	case f.id != "" && f.id == a.id:
		return true
	case f.id != "" && a.id != "":
		// some servers make up a new id for each fragment of a call; such fragments have no names
		return f.name == "" && !a.extent.closed()
	case f.name != "" && a.name != "" && a.extent.began:
		return f.name == a.name && (!a.extent.closed() || len(f.arguments) == 0 || a.repeated(f.arguments))
	}
	return true
}

// repeated reports whether the arguments are complete and come again, byte for byte.
func (a *call) repeated(raw json.RawMessage) bool {
	if !a.extent.closed() {
		return false
	}
	piece := string(raw)
	if raw[0] == '"' {
		var u Unescape
		piece = u.Push(raw) + u.Close()
	}
	return piece == a.arguments.String()
}

// add appends arguments: a piece in a JSON string, or an object.
func (a *call) add(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	if a.repeated(raw) {
		return ""
	}
	piece := string(raw)
	if raw[0] == '"' {
		piece = a.unescape.Push(raw)
	} else if a.extent.closed() {
		return ""
	}
	a.extent.push(piece)
	a.arguments.WriteString(piece)
	return piece
}
