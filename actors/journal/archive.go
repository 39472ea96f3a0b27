package journal

import (
	"context"
	"iter"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// Archive reads a journal. It owns nothing in the journal, starts no runtime, and disturbs no node that writes. It is
// safe for concurrent use.
type Archive struct {
	journal Reader

	mu    sync.Mutex
	folds []*messages.Fold // of the logs that were read last, the newest first
}

// keptFolds bounds the folded logs that an Archive keeps, and keptBytes their text.
const (
	keptFolds = 16
	keptBytes = 32 << 20
)

// NewArchive returns an Archive of the journal.
func NewArchive(store Reader) *Archive { return &Archive{journal: store} }

// State returns the sum of the run's log in the journal. It continues from where it was last asked. Errors:
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
			if last := f.Peek(); len(events) == 0 || events[0].Seq != last.Seq || !events[0].Time.Equal(last.UpdatedAt) { // the log has expired, and another run has its key now
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

// take removes and returns the run's fold, or returns an empty one.
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

// put keeps a fold as the newest, within the bounds.
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
				var got Batch
				got, failed = a.Next(ctx, id, after)
				over, more = failed != nil || got.Over, got.More
				for _, e := range got.Events {
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

// Batch is the result of one read. Its events are shared: do not change them.
type Batch struct {
	Events []messages.Event
	// More says that there is more already. Over says that there will be no more.
	More, Over bool
}

// Next reads past the cursor, at most one batch. Errors: not_found, events_gone, reset.
func (a *Archive) Next(ctx context.Context, id messages.RunID, after uint64) (Batch, error) {
	page, err := a.journal.Read(ctx, id, after)
	head := page.Head
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound && after > 0:
		return Batch{}, messages.Errorf(messages.CodeEventsGone, "the events of run %s are no longer kept", id)
	case err != nil:
		return Batch{}, err
	case head.Ended && after > head.Seq, after > head.Seq+messages.Reserve:
		return Batch{}, ErrReset(id, after)
	}
	if n := len(page.Events); n > 0 {
		after = page.Events[n-1].Seq
	}
	return Batch{Events: page.Events, More: after < head.Seq && len(page.Events) > 0, Over: head.Ended && after >= head.Seq}, nil
}

// ErrReset says that the log has no event with the cursor's number.
func ErrReset(id messages.RunID, after uint64) error {
	return messages.Errorf(messages.CodeReset, "run %s has no event %d: drop the state and begin at 0", id, after)
}
