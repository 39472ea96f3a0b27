package messages

import "time"

// Query asks for the runs of a principal.
type Query struct {
	// Principal is whose runs are asked for, exactly; "" are the runs without one.
	Principal string
	// Job selects runs of the job; "" selects all.
	Job string
	// Status selects runs that are there; empty selects all.
	Status []Status
	// Limit is the most that are returned; 0 is 50.
	Limit int
}

// Summary is a run in a list: what its milestones add up to, in short.
type Summary struct {
	RunID     RunID             `json:"run_id"`
	Job       string            `json:"job"`
	Principal string            `json:"principal,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Status    Status            `json:"status"`
	Canceling bool              `json:"canceling,omitempty"`
	Cause     Cause             `json:"cause,omitempty"`
	Seq       uint64            `json:"seq"`
	QueuedAt  time.Time         `json:"queued_at"`
	UpdatedAt time.Time         `json:"updated_at"`
}
