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
