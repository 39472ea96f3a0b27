package messages

import (
	"iter"
	"slices"
)

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
	var left merger
	for _, p := range m.Parts {
		if f.wants(p) {
			left.add(p)
		}
	}
	if len(left.parts) == 0 {
		return Event{}, false
	}
	e.Body = left.body()
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
