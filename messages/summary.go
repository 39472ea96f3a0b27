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
	// Labels selects runs that have all of these.
	Labels map[string]string
	// Limit is the most that are returned; 0 is 50. Nobody gets more than 1,000.
	Limit int
	// ByQueued lists what was queued last first, instead of what was updated last: an order that does not change, so that
	// pages of it miss no run and repeat none.
	ByQueued bool
	// After is the last run of the page before this one: its id and its time are enough. nil begins with the first run.
	After *Summary
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
		(len(q.Status) == 0 || slices.Contains(q.Status, s.Status)) && q.labelled(s) &&
		(q.After == nil || q.Compare(q.After, s) < 0)
}

func (q Query) labelled(s *Summary) bool {
	for name, value := range q.Labels {
		if got, ok := s.Labels[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// Compare is the order of the list: negative where a is before b. The later time comes first, and ids decide a tie.
func (q Query) Compare(a, b *Summary) int {
	if c := q.timeOf(b).Compare(q.timeOf(a)); c != 0 {
		return c
	}
	return cmp.Compare(a.RunID, b.RunID)
}

func (q Query) timeOf(s *Summary) time.Time {
	if q.ByQueued {
		return s.QueuedAt
	}
	return s.UpdatedAt
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
	list := rowOf(e.Body).list
	if list == nil {
		return s
	}
	next := s // on the heap; most events leave the Summary's own fields alone
	list(e.Body, &next)
	return next
}
