package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// CallDelta is one element of delta.tool_calls. Its fields are raw because servers disagree on their types: an index
// may be a number, a string or missing, and arguments a string or an object.
type CallDelta struct{ Index, ID, Name, Arguments json.RawMessage }

// Calls joins the fragments of tool calls. The zero value is ready for use.
//
// A fragment belongs to the call with its id, or else to the latest call with its index, or else to the latest call.
// It begins a new call if there is none, or if that call has another id or name and is past its beginning: some
// servers send parallel calls with one index.
type Calls struct {
	calls []*call
	ids   map[string]int
	index map[int]int // the latest call of each index
}

// call is one tool call as far as it has arrived.
type call struct {
	id, name  string
	index     int // the last one sent, -1 for none
	arguments strings.Builder
	unescape  Unescape
	extent    extent
}

// Push adds a fragment and returns what it contributes. ok is false if it contributes nothing. Arguments that are an
// object come whole.
func (c *Calls) Push(d CallDelta) (model.CallDelta, bool) {
	f := read(d)
	if f.id == "" && f.name == "" && len(f.arguments) == 0 {
		return model.CallDelta{}, false
	}
	number := c.find(f)
	a := c.calls[number]
	news := a.id == "" && f.id != "" || a.name == "" && f.name != ""
	a.id, a.name = cmp.Or(a.id, f.id), cmp.Or(a.name, f.name)
	c.remember(number, f)
	piece := a.add(f.arguments)
	return model.CallDelta{Number: number, ID: a.id, Name: a.name, Arguments: piece}, news || piece != ""
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
		done = append(done, model.ToolCall{ID: c.id(i), Name: a.name, Arguments: arguments})
	}
	return done
}

// id returns the id of a call or, without one, an id that no other call has.
func (c *Calls) id(number int) string {
	if id := c.calls[number].id; id != "" {
		return id
	}
	id := fmt.Sprintf("call_%d", number)
	for _, taken := c.ids[id]; taken; _, taken = c.ids[id] {
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

// candidate returns the number of the call that the ids and indexes suggest, or -1.
func (c *Calls) candidate(f fragment) int {
	last := len(c.calls) - 1
	if f.id != "" {
		if number, known := c.ids[f.id]; known {
			return number
		}
	}
	if f.index < 0 || last >= 0 && c.calls[last].index == f.index {
		return last
	}
	if number, known := c.index[f.index]; known {
		return number
	}
	return -1
}

// remember records the id and the index by which later fragments name the call.
func (c *Calls) remember(number int, f fragment) {
	if c.ids == nil {
		c.ids, c.index = make(map[string]int), make(map[int]int)
	}
	if _, known := c.ids[f.id]; f.id != "" && !known {
		c.ids[f.id] = number
	}
	if a := c.calls[number]; f.index >= 0 && f.index != a.index {
		a.index = f.index
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
	case f.name != "" && a.name != "":
		return f.name == a.name && (!a.extent.closed() || len(f.arguments) == 0)
	}
	return true
}

// add appends arguments: a piece in a JSON string, or an object.
func (a *call) add(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
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
