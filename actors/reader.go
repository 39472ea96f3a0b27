package actors

import (
	"context"
	"iter"

	"github.com/seed889630bf/lastword/messages"
)

// batch is what one read of a log gave.
type batch struct {
	events []messages.Event
	// wake is closed when there is more than this. It is nil where there is more already, and after the terminal.
	wake <-chan struct{}
	// gone says that the log was dropped: the journal has what there is.
	gone bool
}

// read returns what is visible past the cursor, merged where the reader is far behind. The events are shared: they must
// not be changed.
func (l *liveLog) read(after uint64) (batch, error) {
	b, err := l.behind(after)
	if len(b.events) > readBatch {
		b = catchUp(b)
	}
	return b, err
}

// behind returns everything visible past the cursor.
func (l *liveLog) behind(after uint64) (batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return batch{gone: true}, nil
	}
	shown := l.events[:l.visible]
	if len(shown) > 0 && shown[len(shown)-1].IsTerminal() {
		if after > shown[len(shown)-1].Seq {
			return batch{}, errReset(l.id, after)
		}
		return batch{events: past(shown, after)}, nil
	}
	if after > l.durable+messages.Reserve {
		return batch{}, errReset(l.id, after)
	}
	return batch{events: past(shown, after), wake: l.waker()}, nil
}

// past returns the events past the cursor, which is mostly at their end.
func past(events []messages.Event, after uint64) []messages.Event {
	n := len(events)
	switch {
	case n == 0 || events[n-1].Seq <= after:
		return nil
	case n == 1 || events[n-2].Seq <= after:
		return events[n-1 : n : n]
	}
	return events[firstAfter(events, after):n:n]
}

// catchUp bounds one read: its deltas are merged, and what is more than a batch then is left for the next.
func catchUp(b batch) batch {
	var out []messages.Event
	rest := b.events
	for len(rest) > 0 && len(out) < readBatch {
		n := stretch(rest)
		out = append(out, messages.Merge(rest[:n]))
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return batch{events: out}
	}
	return batch{events: out, wake: b.wake}
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
		case b.wake == nil && len(b.events) == 0:
			return nil
		}
		for _, e := range b.events {
			if !each(e) || e.IsTerminal() {
				return nil
			}
			after = e.Seq
		}
		if b.wake == nil {
			continue
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wait returns the run's final State.
func (s *System) wait(ctx context.Context, id messages.RunID) (messages.State, error) {
	if r := s.active(id); r != nil {
		select {
		case <-r.log.atEnd():
		case <-ctx.Done():
			return messages.State{}, context.Cause(ctx)
		}
		if !r.log.dropped() {
			return r.log.current(), nil
		}
	}
	var state messages.State
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return state, err
		}
		if state, err = state.Apply(e); err != nil {
			return state, err
		}
	}
	return state, nil
}

// atEnd returns a channel that is closed once the terminal is visible, or the log dropped.
func (l *liveLog) atEnd() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil {
		l.over = make(chan struct{})
		l.tellOver()
	}
	return l.over
}

// tellOver closes over when it is time. Under mu.
func (l *liveLog) tellOver() {
	if l.over == nil || l.told || l.gone == nil && (l.visible < len(l.events) || !l.state.Status.IsEnded()) {
		return
	}
	l.told = true
	close(l.over)
}

// onward returns a channel that is closed when more is visible, or the log dropped.
func (l *liveLog) onward() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waker()
}

// waker is onward under mu.
func (l *liveLog) waker() <-chan struct{} {
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return l.wake
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
