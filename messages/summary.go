package messages

import (
	"cmp"
	"slices"
	"time"
)

// Query asks for the runs of a principal.
type Query struct {
	// Principal is whose runs are asked for, exactly; "" are the runs without one.
	Principal string
	// Job selects runs of the job; "" selects all.
	Job string
	// Status selects runs that are there; empty selects all.
	Status []Status
	// Limit is the most that are returned; 0 is 50. Nobody gets more than 1,000.
	Limit int
}

// What a Query gets where it does not say, and at most.
const (
	defaultQuery = 50
	largestQuery = 1000
)

// Most returns how many summaries the query gets at most.
func (q Query) Most() int {
	if q.Limit <= 0 {
		return defaultQuery
	}
	return min(q.Limit, largestQuery)
}

// Selects reports whether the query asks for the run.
func (q Query) Selects(s *Summary) bool {
	return s.Principal == q.Principal && (q.Job == "" || s.Job == q.Job) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, s.Status))
}

// Summary is a run in a list: what its milestones add up to, in short. The zero Summary is that of a run not yet begun.
// Labels are those of run.queued and must be left alone.
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

// Apply returns the Summary after the event. It judges nothing: the event is one that [State.Apply] has taken.
func (s Summary) Apply(e Event) Summary {
	s.RunID, s.Seq, s.UpdatedAt = e.RunID, e.Seq, e.Time
	switch b := e.Body.(type) {
	case RunQueued:
		s.Job, s.Principal, s.Labels, s.Status, s.QueuedAt = b.Job, b.Principal, b.Labels, Pending, e.Time
	case RunStarted:
		s.Status = Processing
	case RunCanceling:
		s.Canceling = true
	case RunCompleted:
		s.Status = Completed
	case RunFailed:
		s.Status, s.Cause = Failed, b.Cause
	case RunCanceled:
		s.Status, s.Cause = Canceled, b.Cause
	}
	return s
}

// Compare is the order of lists: negative where s is before t. What was updated last comes first, and ids decide a tie.
func (s *Summary) Compare(t *Summary) int {
	if c := t.UpdatedAt.Compare(s.UpdatedAt); c != 0 {
		return c
	}
	return cmp.Compare(s.RunID, t.RunID)
}
