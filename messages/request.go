package messages

import "encoding/json"

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
	Cursors map[RunID]uint64
	// Snapshot, if set, gets the State at the beginning, and the events follow it. It replaces After, for a reader
	// that has no State at its cursor.
	Snapshot func(State)
}
