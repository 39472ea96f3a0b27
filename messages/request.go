package messages

import "encoding/json"

// Request asks for a run: what every surface makes of its own call.
type Request struct {
	Job       string            `json:"job"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Principal string            `json:"-"`
	Mode      Mode              `json:"mode,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Limits    Limits            `json:"limits,omitzero"`
	// Key makes the request idempotent per principal: the same key with the same job and input is the same run, with
	// other input a CodeConflict error.
	Key string `json:"key,omitempty"`
}

// Follow says what a reader wants of a run's events. The zero Follow is all of them, one by one, from the first.
type Follow struct {
	// After is the reader's cursor.
	After uint64
	// Filter selects events; what it passes over still moves the cursor.
	Filter Filter
	// Rate is how many deltas a second the reader wants at most; 0 is as they come. Deltas that come faster are merged,
	// and milestones flush them at once.
	Rate float64
	// Tree has the events of the run's sub-runs come with its own. A child's events come after its child.started, and its
	// child.ended after its terminal.
	Tree bool
	// Cursors are those of the runs of a tree besides the run itself: each goes on where its cursor says.
	Cursors map[RunID]uint64
	// Snapshot, where it is set, is given the State at the beginning; the events are those after it. It is for a reader
	// that has no State at its cursor, and takes the place of After.
	Snapshot func(State)
}
