package actors

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// State returns the sum of the run's events so far. Errors: not_found.
func (s *System) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	r := s.active(id)
	if r == nil || r.log.Dropped() != nil {
		return s.archive.State(ctx, id)
	}
	live := r.log.State()
	if live.Seq > 0 && (live.Status.IsEnded() || !r.log.HasTerminal()) {
		return live, nil
	}
	kept, err := s.archive.State(ctx, id) // a reader may have seen the terminal there before the journal answered
	if kept.Seq < live.Seq {
		return live, nil
	}
	return kept, err
}

// Blocks yields the run's log as the journal keeps it, for a [journal.Audit]. Errors: not_found.
func (s *System) Blocks(ctx context.Context, id messages.RunID) iter.Seq2[journal.StoredBlock, error] {
	return s.journal.Blocks(ctx, id)
}

// List returns the runs in the journal that the query selects: active runs, and ended runs until Config.Retention has
// passed. They are in the order of [messages.Query.Compare], at most [messages.Query.Most].
func (s *System) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.journal.List(ctx, q)
}

// Watch calls fn, in the caller's goroutine, for runs whose log has grown on any node, until ctx is done. The first
// call has an empty id: from then on nothing is missed. A later empty id says that any run may have changed. fn may
// be called more often than needed; List tells what is there.
func (s *System) Watch(ctx context.Context, fn func(messages.RunID)) error {
	return s.journal.Watch(ctx, "", func(n journal.Note) {
		if n.Command == nil {
			fn(n.Run)
		}
	})
}

// Forget removes the log of an ended run before its retention time. Files that the run wrote stay. Errors: not_found,
// conflict for a run that has not ended.
func (s *System) Forget(ctx context.Context, id messages.RunID) error {
	err := s.journal.Forget(ctx, id)
	if r := s.active(id); err == nil && r != nil { // its terminal is durable, but nobody has released the run yet
		s.released(r)
	}
	return err
}
