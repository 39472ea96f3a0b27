package actors

import (
	"context"
	"iter"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// Archive reads a journal and owns nothing in it. It starts no runtime and disturbs no node that writes.
type Archive struct {
	journal Reader

	mu    sync.Mutex
	folds []*messages.Fold // of the logs that were read last, the newest first
}

// keptFolds is how many folded logs an Archive keeps, and keptBytes how much text they may hold.
const (
	keptFolds = 16
	keptBytes = 32 << 20
)

// NewArchive returns an Archive of the journal.
func NewArchive(journal Reader) *Archive { return &Archive{journal: journal} }

// State returns the sum of the run's log in the journal. It continues from where it was last asked for. Errors:
// not_found.
func (a *Archive) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	f := a.take(id)
	for known := f.Peek().Seq > 0; ; known = false {
		after := f.Peek().Seq
		if known {
			after--
		}
		page, err := a.journal.Read(ctx, id, after)
		if err != nil {
			return messages.State{}, err
		}
		events := page.Events
		if known {
			if len(events) == 0 || !endsWith(f, events[0]) { // the log has expired, and its key was used again
				f = &messages.Fold{}
				continue
			}
			events = events[1:]
		}
		for _, e := range events {
			if err := f.Apply(e); err != nil {
				return f.State(), err
			}
		}
		if len(page.Events) == 0 || f.Peek().Seq == page.Head.Seq {
			state := f.State()
			a.put(f)
			return state, nil
		}
	}
}

func endsWith(f *messages.Fold, e messages.Event) bool {
	return e.Seq == f.Peek().Seq && e.Time.Equal(f.Peek().UpdatedAt)
}

// take removes the run's fold, or returns an empty one.
func (a *Archive) take(id messages.RunID) *messages.Fold {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, f := range a.folds {
		if f.Peek().RunID == id {
			a.folds = append(a.folds[:i:i], a.folds[i+1:]...)
			return f
		}
	}
	return &messages.Fold{}
}

func (a *Archive) put(f *messages.Fold) {
	a.mu.Lock()
	defer a.mu.Unlock()
	folds, bytes := []*messages.Fold{f}, textBytes(f.Peek())
	for _, old := range a.folds {
		if bytes += textBytes(old.Peek()); len(folds) < keptFolds && bytes <= keptBytes && old.Peek().RunID != f.Peek().RunID {
			folds = append(folds, old)
		}
	}
	a.folds = folds
}

func textBytes(s *messages.State) int {
	n := 0
	for _, t := range s.Streams {
		n += t.Len()
	}
	return n
}

// List returns the runs that the query selects, in the order of [messages.Query.Compare].
func (a *Archive) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return a.journal.List(ctx, q)
}

// Events yields the run's events past the cursor, in order, and waits for more until the terminal. It ends with an
// error when ctx is done or the cursor cannot be served: not_found, events_gone, reset.
func (a *Archive) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		watch, leave := context.WithCancel(ctx)
		defer leave()
		var failed error
		over := false
		err := a.journal.Watch(watch, "", func(n Note) {
			for more := !over && n.Command == nil && (n.Run == "" || n.Run == id); more; {
				var got batch
				got, failed = a.page(ctx, id, after)
				over, more = failed != nil || got.over, got.more
				for _, e := range got.events {
					if after = e.Seq; !yield(e, nil) {
						over, more = true, false
						break
					}
				}
			}
			if over {
				leave()
			}
		})
		if !over {
			failed = err
		}
		if failed != nil {
			yield(messages.Event{}, failed)
		}
	}
}

// page reads past the cursor, and checks it.
func (a *Archive) page(ctx context.Context, id messages.RunID, after uint64) (batch, error) {
	page, err := a.journal.Read(ctx, id, after)
	head := page.Head
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound && after > 0:
		return batch{}, messages.Errorf(messages.CodeEventsGone, "the events of run %s are no longer kept", id)
	case err != nil:
		return batch{}, err
	case head.Ended && after > head.Seq, after > head.Seq+messages.Reserve:
		return batch{}, errReset(id, after)
	}
	if n := len(page.Events); n > 0 {
		after = page.Events[n-1].Seq
	}
	return batch{events: page.Events, more: after < head.Seq && len(page.Events) > 0, over: head.Ended && after >= head.Seq}, nil
}

// State returns the sum of the run's events so far. Errors: not_found.
func (s *System) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	r := s.active(id)
	if r == nil || r.log.liveDropped.Load() {
		return s.archive.State(ctx, id)
	}
	live := r.log.state()
	if live.Seq > 0 && (live.Status.IsEnded() || !r.log.hasTerminal()) {
		return live, nil
	}
	kept, err := s.archive.State(ctx, id) // a reader may have met the terminal there, before the journal answered
	if kept.Seq < live.Seq {
		return live, nil
	}
	return kept, err
}

// List returns the runs in the journal that the query selects: active ones, and ended ones until Config.Retention has
// passed. They come in the order of [messages.Query.Compare], at most [messages.Query.Most].
func (s *System) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.journal.List(ctx, q)
}

// Watch calls fn, in the caller's goroutine, for runs whose log has grown, on whatever node, until ctx is done. First it
// calls fn with the empty id: from then on nothing is missed. The empty id again says that any run may have changed. fn
// may be called too often; List tells what is there.
func (s *System) Watch(ctx context.Context, fn func(messages.RunID)) error {
	return s.journal.Watch(ctx, "", func(n Note) {
		if n.Command == nil {
			fn(n.Run)
		}
	})
}

// Forget removes the log of an ended run before the retention does; what the run wrote elsewhere stays. Errors: not_found,
// conflict for a run that has not ended.
func (s *System) Forget(ctx context.Context, id messages.RunID) error {
	err := s.journal.Forget(ctx, id)
	if r := s.active(id); err == nil && r != nil { // its terminal is durable, and nobody has released it yet
		s.released(r)
	}
	return err
}
