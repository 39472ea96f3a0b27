package actors

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/actors/internal/log"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Events yields the run's events past the cursor, in order, and waits for more until the terminal. It ends with an
// error when ctx is done or the cursor cannot be served: not_found, events_gone, reset, or journal_unavailable if the
// journal cannot keep the run's events. The caller may stop early.
func (s *System) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for e, err := range messages.Each(s.Follow(ctx, id, messages.FollowOptions{After: after})) {
			if !yield(e.Unshared(), err) {
				return
			}
		}
	}
}

// Follow yields the events that a reader selects, in batches, until the run's terminal. Readers of one run share the
// encoded form of an event ([messages.Event.JSON]). An event without a body is only a cursor that has passed filtered
// events. Errors: as for [System.Events].
func (s *System) Follow(ctx context.Context, id messages.RunID, o messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		f := &follower{system: s, want: o, yield: yield, wake: make(log.Wake, 1)}
		defer f.leave()
		if err := f.follow(ctx, id); err != nil {
			yield(nil, err)
		}
	}
}

// follower serves one reader, in the reader's own goroutine. It pulls by cursor: a slow reader costs the run nothing
// and gets merged deltas.
type follower struct {
	system *System
	want   messages.FollowOptions
	yield  func([]messages.Event, error) bool
	wake   log.Wake
	runs   []*cursor // the reader's run first, then its sub-runs
	flush  time.Time // when the held deltas are due
	left   bool      // the reader has stopped
	slow   bool      // the reader took long over the last batch: deltas that came meanwhile are merged
	// closing: the System is closed, and no more events will come.
	closing bool
}

// cursor is a follower's position in one run.
type cursor struct {
	id        messages.RunID
	after     uint64
	silent    uint64     // events up to here are read for the children that they name, and not delivered
	run       *activeRun // the run whose view is read; nil reads the journal
	listening bool       // System.readers wakes the follower for this run
	over      bool
	ended     bool             // the parent's log says that this run has ended
	open      []*cursor        // children whose end this follower has not read yet
	held      []messages.Event // consecutive deltas that wait until they are due
	marked    uint64           // newest number that the reader knows
}

// slowReader is how long a reader takes over a batch before it gets merged deltas.
const slowReader = 50 * time.Millisecond

// passedOver is how many filtered events may pass before the reader gets a new cursor.
const passedOver = 256

// follow reads the run, and with Follow.Tree its sub-runs, in turn until all of them are over.
func (f *follower) follow(ctx context.Context, id messages.RunID) error {
	defer context.AfterFunc(ctx, func() { f.wake.Notify() })()
	if err := f.snapshot(ctx, id); err != nil {
		return err
	}
	f.add(id, f.want.After)
	reading, cancelled := ctx, ctx.Err() != nil
	if cancelled { // the reader gets what there is, then the error; a blocked journal gets limited time
		var stop context.CancelFunc
		reading, stop = context.WithTimeout(context.WithoutCancel(ctx), f.system.config.JournalTimeout)
		defer stop()
	}
	for {
		more := false
		for i := 0; i < len(f.runs); i++ { // runs grows
			again, err := f.read(reading, f.runs[i])
			if err != nil || f.left {
				return err
			}
			more = more || again
		}
		switch {
		case f.runs[0].over && cancelled:
			return context.Cause(ctx)
		case f.runs[0].over:
			return nil
		}
		if err := f.wait(ctx, more); err != nil || f.left {
			return err
		}
	}
}

// snapshot passes on the State from which the events continue, if the reader wants it. It is not inlined, so that the
// stack of a waiting reader has no room for a State.
//
//go:noinline
func (f *follower) snapshot(ctx context.Context, id messages.RunID) error {
	if f.want.Snapshot == nil {
		return nil
	}
	state, err := f.system.State(ctx, id)
	if err == nil {
		f.want.Snapshot(state)
		f.want.After = state.Seq
	}
	return err
}

// end passes on the State after the terminal, if this node has it.
//
//go:noinline
func (f *follower) end(c *cursor) {
	if !c.over || f.want.Ended == nil || c.run == nil || c != f.runs[0] {
		return
	}
	if state := c.run.log.State(); state.Status.IsEnded() {
		f.want.Ended(state)
	}
}

// add adds a run to read past after. With Follow.Tree it reads silently up to there, for the children that are named.
func (f *follower) add(id messages.RunID, after uint64) *cursor {
	c := &cursor{id: id, after: after, marked: after}
	if f.want.Tree {
		c.after, c.silent = 0, after
	}
	f.runs = append(f.runs, c)
	return c
}

// wait blocks until there are more events, or until held deltas are due.
func (f *follower) wait(ctx context.Context, more bool) error {
	if more {
		return nil
	}
	switch {
	case f.system.ctx.Err() != nil && f.closing:
		return f.system.runs.errClosed()
	case f.system.ctx.Err() != nil:
		f.closing = true // what there is may still be read
	case f.flush.IsZero() && !slices.ContainsFunc(f.runs, func(c *cursor) bool { return c.listening }):
		<-f.wake // each reader has its own channel: on a shared one, readers would wait for each other
	default:
		f.pause()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// lookEvery is how often a reader of the journal checks the log's head, since a wake-up may be lost.
const lookEvery = 15 * time.Second

// pause waits until held deltas are due and delivers them, or until the journal must be read again.
func (f *follower) pause() {
	until := lookEvery
	if !f.flush.IsZero() {
		until = min(until, time.Until(f.flush))
	}
	if until > 0 {
		due := time.NewTimer(until)
		defer due.Stop()
		select {
		case <-f.wake:
		case <-due.C:
		}
	}
	if !f.flush.IsZero() && !time.Now().Before(f.flush) {
		f.release()
	}
}

// read delivers the next events of one run, and reports whether there are more.
func (f *follower) read(ctx context.Context, c *cursor) (more bool, err error) {
	if c.over {
		return false, nil
	}
	got, err := f.fetch(ctx, c)
	if err != nil {
		return false, err
	}
	if f.slow {
		got.Events = messages.MergeDeltas(got.Events)
	}
	events, cut := f.childrenFirst(c, got.Events)
	c.over = got.Over && !cut
	f.end(c)
	f.deliver(c, events)
	if c.over {
		if c.after > 0 && c.silent > c.after {
			return false, journal.ErrReset(c.id, c.silent)
		}
		f.release()
		f.unlisten(c)
		return true, nil // its parent may have waited for it
	}
	return got.More, nil
}

// fetch reads past the cursor, from the view of a run that is active here or else from the journal.
func (f *follower) fetch(ctx context.Context, c *cursor) (journal.Batch, error) {
	var r *activeRun
	if c.run == nil {
		if !c.listening { // before reading: from now on each change wakes this reader
			f.system.readers.listen(c.id, f.wake)
			c.listening = true
		}
		if r = f.system.runs.active(c.id); r != nil && r.log.Holds(c.after) {
			if err := r.log.Enter(f.system.config.MaxReaders, f.wake); err != nil {
				return journal.Batch{}, err
			}
			f.unlisten(c)
			c.run = r
		}
	}
	if c.run == nil {
		archived, err := f.system.readers.archive.Next(ctx, c.id, c.after)
		if err == nil && !archived.Over {
			why := f.system.runs.unendable(c.id) // nobody will wake a reader of such a run: it reads the rest once more, and then leaves
			if archived.More = archived.More || why != nil; len(archived.Events) == 0 {
				err = why
			}
		}
		_, never := errors.AsType[log.Unstorable](err)
		if c != f.runs[0] && (never || messages.CodeOf(err) == messages.CodeNotFound) { // a child that has not started, was forgotten, or cannot end
			return journal.Batch{Over: c.ended}, nil
		}
		archived.More = archived.More || r != nil && len(archived.Events) > 0 // the view may have the rest
		return archived, err
	}
	got, err := c.run.log.Read(c.after)
	if c.run.log.Dropped() != nil { // the journal has the rest
		c.run.log.Leave(f.wake)
		c.run, got.More = nil, true
	}
	return got, err
}

// childrenFirst adds the children that the events name, and holds back what must wait for them: child.ended comes
// after the child's own terminal.
func (f *follower) childrenFirst(c *cursor, events []messages.Event) (now []messages.Event, cut bool) {
	if !f.want.Tree {
		return events, false
	}
	for i, e := range events {
		switch b := e.Body.(type) {
		case messages.ChildStarted:
			c.open = append(c.open, f.add(b.Child, f.want.Children[b.Child]))
		case messages.ChildEnded:
			for _, k := range c.open {
				if k.id == b.Child && !k.over {
					k.ended = true
					return events[:i], true
				}
			}
			c.open = slices.DeleteFunc(c.open, func(k *cursor) bool { return k.over })
		}
	}
	return events, false
}

// deliver passes on the events that the reader selects.
func (f *follower) deliver(c *cursor, events []messages.Event) {
	if len(events) == 0 {
		return
	}
	c.after = events[len(events)-1].Seq
	events = events[journal.FirstAfter(events, c.silent):]
	if len(events) == 0 {
		return
	}
	out := events
	if filter := f.want.Filter; f.want.Rate > 0 || filter.MilestonesOnly || len(filter.Kinds)+len(filter.Streams) > 0 {
		out = f.choose(c, events)
	}
	if len(c.held) == 0 && c.after >= c.marked+passedOver && (len(out) == 0 || out[len(out)-1].Seq != c.after) {
		out = append(slices.Clip(out), messages.Event{RunID: c.id, From: c.after, Seq: c.after})
	}
	f.give(c, out)
}

// give yields events to the reader, unless it has stopped.
func (f *follower) give(c *cursor, events []messages.Event) {
	if len(events) > 0 && !f.left {
		c.marked = events[len(events)-1].Seq
		began := time.Now()
		f.left = !f.yield(events, nil)
		f.slow = time.Since(began) > slowReader
	}
}

// choose filters the events, and holds deltas that come faster than the reader wants. It merges deltas across
// filtered events, but never across a milestone.
func (f *follower) choose(c *cursor, events []messages.Event) []messages.Event {
	var out []messages.Event
	for _, e := range events {
		selected, ok := f.want.Filter.Select(e)
		if !e.IsDelta() {
			out = append(out, c.takeHeld()...)
		}
		switch {
		case !ok:
		case f.want.Rate > 0 && e.IsDelta():
			out = append(out, c.hold(selected)...)
		default:
			out = append(out, selected)
		}
	}
	if len(c.held) == 0 {
		return out
	}
	if now := time.Now(); f.flush.IsZero() {
		f.flush = now.Add(time.Duration(float64(time.Second) / f.want.Rate))
	}
	return out
}

// hold keeps a delta for later. A delta that the log has merged with held ones replaces them. hold returns held
// deltas that the new one covers only in part.
func (c *cursor) hold(e messages.Event) (now []messages.Event) {
	for len(c.held) > 0 && c.held[len(c.held)-1].From >= e.From {
		c.held = c.held[:len(c.held)-1]
	}
	if n := len(c.held); n > 0 && c.held[n-1].Seq >= e.From {
		now = c.takeHeld()
	}
	c.held = append(c.held, e)
	return now
}

// takeHeld returns the held deltas as one merged event, or as several if their texts are long.
func (c *cursor) takeHeld() (merged []messages.Event) {
	for len(c.held) > 0 {
		n := messages.Fitted(c.held)
		merged, c.held = append(merged, messages.Merge(c.held[:n])), c.held[n:]
	}
	return merged
}

// release delivers all held deltas.
func (f *follower) release() {
	f.flush = time.Time{}
	for _, c := range f.runs {
		f.give(c, c.takeHeld())
	}
}

// unlisten stops the wake-ups for the run.
func (f *follower) unlisten(c *cursor) {
	if c.run != nil {
		c.run.log.Leave(f.wake)
		c.run = nil
	}
	if c.listening {
		f.system.readers.unlisten(c.id, f.wake)
		c.listening = false
	}
}

func (f *follower) leave() {
	for _, c := range f.runs {
		f.unlisten(c)
	}
}
