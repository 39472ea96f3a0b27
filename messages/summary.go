package messages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Query selects runs in a list.
type Query struct {
	// Principal is the owner of the runs, exactly. "" selects runs without an owner.
	Principal string
	// Everyone selects the runs of all principals.
	Everyone bool
	// Runs selects among these; empty selects all.
	Runs []RunID
	// Job selects runs of the job; "" selects all.
	Job string
	// Status selects runs with one of these; empty selects all.
	Status []Status
	// Labels selects runs that have all of these.
	Labels map[string]string
	// Limit bounds the number of summaries; 0 means 50, and more than 1,000 means 1,000.
	Limit int
	// ByQueued sorts by queueing time instead of the last update. That order never changes, so pages miss no run and
	// repeat none.
	ByQueued bool
	// After is the last run of the page before; only its id and time matter. nil starts with the first run.
	After *Summary
}

// Limits of a Query.
const (
	defaultQuery = 50
	largestQuery = 1000
)

// Most returns the greatest number of summaries that the query returns.
func (q Query) Most() int {
	if q.Limit <= 0 {
		return defaultQuery
	}
	return min(q.Limit, largestQuery)
}

// Selects reports whether the query selects the run.
func (q Query) Selects(s *Summary) bool {
	return (q.Everyone || s.Principal == q.Principal) && (len(q.Runs) == 0 || slices.Contains(q.Runs, s.RunID)) && (q.Job == "" || s.Job == q.Job) &&
		(len(q.Status) == 0 || slices.Contains(q.Status, s.Status)) && q.labelled(s) &&
		(q.After == nil || q.Compare(q.After, s) < 0)
}

// labelled reports whether the run has all labels of the query.
func (q Query) labelled(s *Summary) bool {
	for name, value := range q.Labels {
		if got, ok := s.Labels[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// Compare orders the list: it is negative if a is before b. The later time comes first, then the smaller id.
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

// Summary describes a run in a list. The zero Summary is a run that has not begun. Do not change its map or its
// slice.
type Summary struct {
	RunID RunID  `json:"run_id"`
	Job   string `json:"job"`
	// Input is the run's title or, without one, the first text in the job's input, on one line and cut: people recognise
	// the run by it.
	Input     string            `json:"input,omitempty" text:"any"`
	Principal string            `json:"principal,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Status    Status            `json:"status"`
	Canceling bool              `json:"canceling,omitempty"`
	// OpenRequests are the requests that wait for an answer, sorted.
	OpenRequests []string  `json:"open_requests,omitempty"`
	Cause        Code      `json:"cause,omitempty"`
	Seq          uint64    `json:"seq"`
	QueuedAt     time.Time `json:"queued_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// Add adds an event that [State.Apply] has accepted.
func (s *Summary) Add(e Event) {
	s.RunID, s.Seq, s.UpdatedAt = e.RunID, e.Seq, e.Time
	if list := rowOf(e.Body).list; list != nil {
		list(e.Body, s)
	}
}

// longestInput bounds Summary.Input, in bytes.
const longestInput = 160

// inputWords returns the Summary.Input of a run's title and input.
func inputWords(text string, input json.RawMessage) string {
	if text == "" && len(input) > 0 {
		text = firstText(json.NewDecoder(bytes.NewReader(input)))
	}
	if len(text) > 8*longestInput { // most of it may be white space
		text = text[:8*longestInput]
	}
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if len(text) <= longestInput {
		return text
	}
	return strings.ToValidUTF8(text[:longestInput-len("…")], "") + "…"
}

// firstText returns the first string of the next JSON value that is neither empty nor a key, or "".
func firstText(d *json.Decoder) (text string) {
	token, err := d.Token()
	if err != nil {
		return ""
	}
	switch t := token.(type) {
	case string:
		return t
	case json.Delim:
		for text == "" && d.More() {
			if t == '{' {
				if _, err := d.Token(); err != nil {
					return ""
				}
			}
			text = firstText(d)
		}
		if text == "" {
			_, _ = d.Token() // the end of the value
		}
	}
	return text
}
