package actors

import (
	"context"
	"iter"
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// batch is what one read of a log gave.
type batch struct {
	events []messages.Event
	// more says that there is more already, and over that there will be no more.
	more, over bool
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
		return batch{events: past(shown, after), over: true}, nil
	}
	if after > l.durable+messages.Reserve {
		return batch{}, errReset(l.id, after)
	}
	return batch{events: past(shown, after)}, nil
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
	return batch{events: out, more: len(rest) > 0, over: b.over && len(rest) == 0}
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

// listen returns a bell that is rung when more is visible, or the log dropped.
func (l *liveLog) listen() (bell chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bell = make(chan struct{}, 1)
	l.bells = append(slices.Clip(l.bells), bell)
	return bell
}

func (l *liveLog) unlisten(bell chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bells = slices.DeleteFunc(slices.Clone(l.bells), func(b chan struct{}) bool { return b == bell })
}

// ring is heard once, however often it is rung before. A bell of its own is what makes a reader cheap to wake: on one
// channel for all they would stand in each other's way.
func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
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
	bell := r.log.listen()
	defer r.log.unlisten(bell)
	defer context.AfterFunc(ctx, func() { ring(bell) })()
	for {
		b, err := r.log.read(after)
		switch {
		case err != nil:
			return err
		case b.gone:
			return s.replay(ctx, id, after, each)
		case b.over && len(b.events) == 0:
			return nil
		}
		for _, e := range b.events {
			if !each(e) || e.IsTerminal() {
				return nil
			}
			after = e.Seq
		}
		if b.more {
			continue
		}
		if <-bell; ctx.Err() != nil {
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
			return errElsewhere(id)
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

// checkCursor judges a cursor at which the journal has nothing: the terminal itself is the end, past it, or past the
// reserve, is a reset, and anything else is still to come.
func (s *System) checkCursor(ctx context.Context, id messages.RunID, after uint64) error {
	state, err := s.State(ctx, id)
	switch {
	case err != nil || state.Status.IsEnded() && after == state.Seq:
		return err
	case state.Status.IsEnded() || after > state.Seq+messages.Reserve:
		return errReset(id, after)
	}
	return errElsewhere(id)
}
