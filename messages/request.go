package messages

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Request asks for a run of a job by name.
type Request struct {
	Job       string            `json:"job"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Principal string            `json:"-"`
	Mode      Mode              `json:"mode,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Limits    Limits            `json:"limits,omitzero"`
	// Key makes the request idempotent per principal: the same key with the same job and input gets the same run, and
	// with other input a CodeConflict error.
	Key string `json:"key,omitempty"`
}

// Follow says which of a run's events a reader wants. The zero Follow is all of them, one by one, from the first.
type Follow struct {
	// After is the reader's cursor.
	After uint64
	// Filter selects events. Left-out events still move the cursor.
	Filter Filter
	// Rate is the most deltas a second; 0 is as they come. Faster deltas are merged, and a milestone flushes them.
	Rate float64
	// Tree adds the events of the run's sub-runs: a child's events come after its child.started, and its child.ended
	// after its terminal.
	Tree bool
	// Cursors are the cursors of a tree's sub-runs.
	Cursors Cursors
	// Snapshot, if set, gets the State at the beginning, and the events follow it. It replaces After, for a reader
	// that has no State at its cursor.
	Snapshot func(State)
}

// At is where a reader of the run begins.
func (f Follow) At(id RunID) Cursors {
	at := Cursors{id: f.After}
	maps.Copy(at, f.Cursors)
	return at
}

// Cursors are how far a reader is in a run and its sub-runs: of each the number of the last event that it has.
type Cursors map[RunID]uint64

// ParseCursors reads what [Cursors.Append] wrote for the run; "" is the beginning. Errors: invalid_input.
func ParseCursors(run RunID, text string) (Cursors, error) {
	at := Cursors{run: 0}
	if text == "" {
		return at, nil
	}
	for i, one := range strings.Split(text, ",") {
		child, number, found := strings.Cut(one, ":")
		if !found {
			child, number = "", one
		}
		seq, err := strconv.ParseUint(number, 10, 63)
		if err != nil || found == (i == 0) {
			return nil, InvalidInput("the cursor %.100q is not one that an event had; begin at 0", text)
		}
		id := run
		if found {
			id += RunID("." + child)
		}
		at[id] = seq
	}
	return at, nil
}

// Append appends the cursors as one text: the run's number, then those of sub-runs by what their ids add to the run's.
func (c Cursors) Append(b []byte, run RunID) []byte {
	b = strconv.AppendUint(b, c[run], 10)
	if len(c) == 1 {
		return b
	}
	prefix := string(run) + "."
	for _, id := range slices.Sorted(maps.Keys(c)) {
		if id != run {
			b = append(append(b, ','), strings.TrimPrefix(string(id), prefix)...)
			b = strconv.AppendUint(append(b, ':'), c[id], 10)
		}
	}
	return b
}

// Text is the cursors as [Cursors.Append] writes them.
func (c Cursors) Text(run RunID) string { return string(c.Append(nil, run)) }

// JSONSchema returns a JSON Schema, the same each time. It may be nil, and so may what it returns: then anything fits.
type JSONSchema func() json.RawMessage

// JSON returns the schema, or nil.
func (s JSONSchema) JSON() json.RawMessage {
	if s == nil {
		return nil
	}
	return s()
}

// JobInfo is what whoever offers a kind of job knows of it.
type JobInfo struct {
	// Name is the job's name in its runtime.
	Name string
	About
}

// About says what a kind of job is for, what it takes and what it gives.
type About struct {
	// Title and Description tell people and models what the job is for, and when to use it.
	Title, Description string
	// Input is the schema of the input, an object. Models is what models may say of it; nil is all.
	Input, Models JSONSchema
	// Output is the schema of the result.
	Output JSONSchema
	// Text is the member of the input that takes what a chat client says; "" where the result is no answer.
	Text string
	// Effects, for clients. The zero value writes without destroying and stays on this machine.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Limits bound runs whose callers set none.
	Limits Limits
	// Mode says what becomes of a run whose caller leaves; "" is as the caller's protocol says.
	Mode Mode
	// Say says for people and models what an ended run came to; nil is the text that the run said, else a sentence and
	// the result as JSON.
	Say func(ended State) string
}
