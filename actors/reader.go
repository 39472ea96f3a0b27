package actors

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// batch is what one read of a log gave.
type batch struct {
	events []messages.Event
	// wake is closed when there is more, where events is empty and the log goes on.
	wake <-chan struct{}
	// gone says that the log was dropped: the journal has what there is.
	gone bool
}

// read returns what is visible past the cursor, merged where the reader is far behind. The events are shared: they must
// not be changed.
func (l *liveLog) read(after uint64) (batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return batch{gone: true}, nil
	}
	shown := l.events[:l.visible]
	i := firstAfter(shown, after)
	if i < len(shown) {
		return batch{events: catchUp(shown[i:len(shown):len(shown)])}, nil
	}
	ended := len(shown) > 0 && shown[len(shown)-1].IsTerminal()
	if ended && after > shown[len(shown)-1].Seq || after > l.durable+messages.Reserve {
		return batch{}, errReset(l.id, after)
	}
	if ended {
		return batch{}, nil
	}
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return batch{wake: l.wake}, nil
}

// catchUp bounds one read: what is more than a batch is merged, and then cut.
func catchUp(events []messages.Event) []messages.Event {
	if len(events) <= readBatch {
		return events
	}
	var out []messages.Event
	for len(events) > 0 && len(out) < readBatch {
		n := stretch(events)
		out = append(out, messages.Merge(events[:n]))
		events = events[n:]
	}
	return out
}

func errReset(id messages.RunID, after uint64) error {
	return messages.Errorf(messages.CodeReset, "run %s has no event %d: drop the state and begin at 0", id, after)
}

// enter counts a reader in; the run's readers are bounded.
func (l *liveLog) enter(limit int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers >= limit {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"run %s has %d readers already; close one or raise the limit", l.id, limit)
	}
	l.readers++
	return nil
}

func (l *liveLog) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers--
}

// Events yields the run's events whose Seq is past after, in order, waiting for more until the terminal. It ends with an
// error when ctx is done or the cursor cannot be served: not_found, events_gone, reset. Stopping early is fine.
func (s *System) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		if err := s.follow(ctx, id, after, func(e messages.Event) bool { return yield(e, nil) }); err != nil {
			yield(messages.Event{}, err)
		}
	}
}

// follow gives every event past the cursor to each, until the terminal or until each wants no more.
func (s *System) follow(ctx context.Context, id messages.RunID, after uint64, each func(messages.Event) bool) error {
	r := s.active(id)
	if r == nil {
		return s.replay(ctx, id, after, each)
	}
	if err := r.log.enter(s.config.MaxReaders); err != nil {
		return err
	}
	defer r.log.leave()
	for {
		b, err := r.log.read(after)
		switch {
		case err != nil:
			return err
		case b.gone:
			return s.replay(ctx, id, after, each)
		case b.wake != nil:
			select {
			case <-b.wake:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			continue
		case len(b.events) == 0:
			return nil
		}
		for _, e := range b.events {
			if !each(e) || e.IsTerminal() {
				return nil
			}
			after = e.Seq
		}
	}
}

// replay reads a run that is not active here from the journal.
func (s *System) replay(ctx context.Context, id messages.RunID, after uint64, each func(messages.Event) bool) error {
	read := false
	for {
		events, err := s.journal.Read(ctx, id, after)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound && after > 0:
			return messages.Errorf(messages.CodeEventsGone, "the events of run %s are no longer kept", id)
		case err != nil:
			return err
		case len(events) == 0 && !read && after > 0:
			return s.checkCursor(ctx, id, after)
		case len(events) == 0:
			return messages.Errorf(messages.CodeUnavailable, "run %s is not active on this node; ask again later", id)
		}
		read = true
		for _, e := range events {
			if !each(e) || e.IsTerminal() {
				return nil
			}
			after = e.Seq
		}
	}
}

// checkCursor judges a cursor at which the journal has nothing: the terminal itself is the end, past it is a reset.
func (s *System) checkCursor(ctx context.Context, id messages.RunID, after uint64) error {
	events, err := s.journal.Read(ctx, id, after-1)
	if err != nil {
		return err
	}
	if len(events) > 0 && events[len(events)-1].IsTerminal() && events[len(events)-1].Seq == after {
		return nil
	}
	return errReset(id, after)
}
