package messages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"
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
	// Input is the run's title or, without one, the first text in the job's input, or else its members, on one line and
	// cut: people recognise the run by it.
	Input     string            `json:"input,omitempty" text:"any"`
	Principal string            `json:"principal,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Status    Status            `json:"status"`
	Canceling bool              `json:"canceling,omitempty"`
	// OpenRequests are the requests that wait for an answer, sorted.
	OpenRequests []string `json:"open_requests,omitempty"`
	// Cause is why the run ended. While the run is held, it is "held".
	Cause     Code      `json:"cause,omitempty"`
	Seq       uint64    `json:"seq"`
	QueuedAt  time.Time `json:"queued_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Purse has what was spent, and what was added to the budget: nil if nothing was. What a lost call had reserved is in
	// the State alone.
	Purse *Purse `json:"purse,omitempty"`
	// Budget has the limits of the budget that the run began with; nil without any.
	Budget *Budget `json:"budget,omitempty"`
}

// Limit returns the limits of the run's budget, with what was added.
func (s *Summary) Limit() Budget {
	if s.Budget == nil {
		return Budget{}
	}
	return s.Purse.raised(*s.Budget)
}

// Spent returns what the run and its ended sub-runs have spent.
func (s *Summary) Spent() Budget {
	if s.Purse == nil {
		return Budget{}
	}
	return s.Purse.Spent
}

func (s *Summary) spend(b Budget, estimated bool) {
	if b != (Budget{}) {
		s.Purse = s.Purse.copy()
		s.Purse.spend(b, estimated)
	}
}

// add raises the budget by what people have added.
func (s *Summary) add(b Budget) {
	if b != (Budget{}) {
		s.Purse = s.Purse.copy()
		s.Purse.Added = s.Purse.Added.Plus(b)
	}
}

// Add adds an event that [State.Apply] has accepted.
func (s *Summary) Add(e Event) {
	s.RunID, s.Seq, s.UpdatedAt = e.RunID, e.Seq, e.Time
	if list := rowOf(e.Body).list; list != nil {
		list(e.Body, s)
	}
}

// held is the Cause of a run that waits for a person to release it.
const held Code = "held"

// Standings returns the words for how far a run is, which all surfaces for people use. Filters take the first word.
func Standings() []string {
	return []string{string(Pending), string(Processing), waiting, string(held), "canceling", string(Completed), string(Failed), string(Canceled)}
}

const waiting = "waiting for a person"

// SilentAfter is how long a run may work without an event, its own or of a sub-run, before lists mark it.
const SilentAfter = 2 * time.Minute

// Standing returns one of [Standings]. asks says that a sub-run waits for an answer.
func (s *Summary) Standing(asks bool) string {
	switch {
	case s.Status.IsEnded():
	case s.Canceling:
		return "canceling"
	case asks || len(s.OpenRequests) > 0:
		return waiting
	case s.Cause == held:
		return string(held)
	}
	return string(s.Status)
}

// longestInput bounds Summary.Input, in bytes.
const longestInput = 160

// inputWords returns the Summary.Input of a run's title and input.
func inputWords(text string, input json.RawMessage) string {
	if text == "" && len(input) > 0 {
		if most := 32 * longestInput; len(input) > most { // the beginning of a long text is enough
			text = firstText(json.NewDecoder(io.MultiReader(bytes.NewReader(input[:most]), strings.NewReader(`"`))))
		}
		if len(text) <= 8*longestInput {
			text = firstText(json.NewDecoder(bytes.NewReader(input)))
		}
		if text == "" && len(input) <= 8*longestInput {
			text = members.Replace(string(input))
		}
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

// members writes JSON without texts as people read it: {"page":9,"all":true} is page=9 all=true.
var members = strings.NewReplacer("{", "", "}", "", `"`, "", ":", "=", ",", " ", "null", "")

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

// Filter selects events for a reader. The zero Filter selects everything. Events that are left out still move the
// reader's cursor: it continues from the Seq of the last event that was offered to it.
type Filter struct {
	// MilestonesOnly leaves out every delta.
	MilestonesOnly bool `json:"milestones_only,omitempty"`
	// Kinds selects events of these kinds; empty selects all.
	Kinds []Kind `json:"kinds,omitempty"`
	// Streams selects texts and thoughts by name; empty selects all. Other kinds ignore it.
	Streams []string `json:"streams,omitempty"`
}

// Select returns the selected part of the event, and whether there is any. A terminal always passes. If the deltas of
// a stream pass, so do its done event and every rewind. A merged event is reduced to the selected parts.
func (f Filter) Select(e Event) (Event, bool) {
	switch {
	case e.IsTerminal():
		return e, true
	case f.MilestonesOnly && e.IsDelta():
		return Event{}, false
	}
	if m, ok := e.Body.(Merged); ok {
		return f.parts(e, m)
	}
	return e, f.wants(e.Body)
}

// parts reduces a merged event to the parts that the filter wants.
func (f Filter) parts(e Event, m Merged) (Event, bool) {
	var wanted merger
	for _, p := range m.Parts {
		if f.wants(p) {
			wanted.add(p)
		}
	}
	if len(wanted.parts) == 0 {
		return Event{}, false
	}
	e.Body = wanted.body()
	return e.Unshared(), true
}

// wants reports whether the filter selects a body that is not merged: by kind and stream, or because it ends or takes
// back what is selected.
func (f Filter) wants(b Body) bool {
	row, kind := rowOf(b), KindOf(b)
	switch {
	case row.stream != nil:
		name := row.stream(b)
		return f.wantsStream(kind, name) || row.closes != "" && !f.MilestonesOnly && f.wantsStream(row.closes, name)
	case row.takesBack && !f.MilestonesOnly && (f.wantsKind(KindTextDelta) || f.wantsKind(KindThoughtDelta)):
		return true
	}
	return f.wantsKind(kind)
}

func (f Filter) wantsKind(k Kind) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, k) }

func (f Filter) wantsStream(k Kind, stream string) bool {
	return f.wantsKind(k) && (len(f.Streams) == 0 || slices.Contains(f.Streams, stream))
}

// FollowOptions says which events of a run a reader wants. The zero value wants all, one by one, from the first.
type FollowOptions struct {
	// After is the number of the last event that the reader has.
	After uint64
	// Filter selects events. Left-out events still move the cursor.
	Filter Filter
	// Rate is the greatest number of deltas per second; 0 sends them as they come. Faster deltas are merged. A
	// milestone sends what is held back.
	Rate float64
	// Tree adds the events of the run's sub-runs. A child's events come after its child.started, and before its
	// child.ended.
	Tree bool
	// Children holds the reader's cursors in sub-runs.
	Children map[RunID]uint64
	// Snapshot, if set, is called first with the present State, and the events continue from it. It replaces After,
	// for a reader that has no State at its cursor.
	Snapshot func(State)
	// Ended, if set, may be called before the terminal with the State after it, so that the reader need not ask for it.
	Ended func(State)
}

// Follow is FollowOptions.
//
// Deprecated: Use [FollowOptions].
type Follow = FollowOptions

// Each yields the events of the batches, one by one, up to the first error.
func Each(batches iter.Seq2[[]Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for batch, err := range batches {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range batch {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}
