package log

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

const (
	// journalDelay is how long a delta may wait before it goes to the journal.
	journalDelay = 100 * time.Millisecond
	// backlog is how many events may wait for the journal before tasks must wait. Half of it is sent at once.
	backlog = 4096
	// compactAfter is how many unmerged deltas the end of a log holds before they are merged.
	compactAfter = 256
	// firstEvents is the size of the first table: few runs need more.
	firstEvents = 5
)

// Log is the log of an active run: a ledger that decides what is legal, a view that shows it to readers, and an
// entry that keeps it in the journal. It is not an actor, because it must work whatever else fails.
//
// It has three locks, and none is taken while another is held:
//
//   - mu guards the fields below it and all writes to the view's atomics. The run's actor, its
//     supervisor and the appender take it.
//   - view.readersMu guards the view's fields below it. Readers take it.
//   - entry.mu guards the block on its way. The journal's answers take it.
//
// Each lock is taken and released in one function. Under a lock, the function given to With is the only code from
// outside: what follows from a change is returned as a [todo] and done without the lock.
//
// Invariants, under mu: events[:recorded] are contiguous; the ledger is their sum; no event past sent was sent; at
// most one block is on its way.
type Log struct {
	view
	MaxBytes int64        // the most that the log may hold; set by New
	updated  atomic.Int64 // time of the newest event, as a duration since Origin

	mu       sync.Mutex
	ledger   Ledger
	table    *table
	wires    []messages.Wire // wire forms of the events that were recorded into this table
	recorded int             // number of the table's events that are written
	mergedTo int             // events[:mergedTo] are merged; it ends at a milestone
	bytes    int64
	// mergeAt is the size at which a log over its limit is merged again.
	mergeAt int64
	forgets uint64       // number of the newest event that drops a text whose deltas may still hold it; 0 if none
	head    journal.Head // end of the journal's log, as far as known
	sending bool         // a block is on its way
	flushAt *time.Timer  // runs while deltas wait for the journal
	entry   entry
	alarm   func(messages.Code) // called when the run cannot go on
	waiters []waiter
}

// waiter is called with nil once the event is in the journal, or with the reason why nobody will know.
type waiter struct {
	seq uint64
	f   func(error)
}

// New makes the log of a run that has no event yet.
func New(id messages.RunID, a *Appender, maxBytes int64) *Log {
	l := &Log{view: view{id: id}, MaxBytes: maxBytes, ledger: Ledger{ID: id}}
	l.entry = entry{appender: a, log: l}
	l.table, l.wires = newTable(firstEvents)
	l.shown.Store(l.table)
	return l
}

// Resume continues a run whose log is in the journal, with an epoch of this node. f is that log, folded up to head.
func (l *Log) Resume(f *messages.Fold, head journal.Head) {
	l.reading, l.base = messages.NewFold(f.State()), head.Seq
	l.ledger.Fold, l.ledger.Epoch, l.head = *f, head.Epoch+1, head
	l.sent.Store(head.Seq)
	l.durable.Store(head.Seq)
}

// todo is what follows from a change of a log, to be done without its lock.
type todo struct {
	show  bool // wake the readers
	over  bool // the live log was dropped: no reader gets more, and nothing more is sent
	ready []waiter
	why   error // why the ready waiters get an error; nil: their events are durable
	block *journal.Block
	tell  bool // wake the observer
	alarm func(messages.Code)
	cause messages.Code
}

// do carries out a todo. mu must not be held.
func (l *Log) do(t todo) {
	if t.over {
		l.entry.forget()
	}
	for _, w := range t.ready {
		w.f(t.why)
	}
	if t.over {
		l.end()
	}
	if t.show {
		l.notify()
	}
	if t.tell {
		l.entry.appender.Node.Call(l.entry.appender.observer)
	}
	if t.block != nil {
		l.entry.send(t.block)
	}
	if t.alarm != nil {
		t.alarm(t.cause)
	}
}

// With calls f with the ledger, under the log's lock. It publishes what f records, and sends it to the journal.
func (l *Log) With(now time.Time, f func(*Ledger)) {
	l.act(func() todo {
		f(&l.ledger)
		return l.commit(now)
	})
}

// act changes the log under mu, and then does what follows without the lock.
func (l *Log) act(change func() todo) {
	l.do(func() todo {
		l.mu.Lock()
		defer l.mu.Unlock()
		return change()
	}())
}

// Record adds one event. Errors: the ledger's errors, or why the live log was dropped.
func (l *Log) Record(now time.Time, body messages.Body, message string) (err error) {
	l.With(now, func(g *Ledger) {
		if err = l.Dropped(); err == nil {
			err = g.Record(now, body, message)
		}
	})
	return err
}

// Finish writes the terminal if there is none yet, and reports whether it did.
func (l *Log) Finish(now time.Time, word messages.Body, message string) (did bool) {
	l.With(now, func(g *Ledger) { did = l.Dropped() == nil && g.Finish(now, word, message) })
	if !did {
		l.entry.appender.LateFinishes.Add(1)
	}
	return did
}

// commit publishes the ledger's fresh events, and sends what is due. mu must be held.
func (l *Log) commit(now time.Time) todo {
	fresh := l.ledger.Fresh
	if len(fresh) == 0 || l.Dropped() != nil {
		l.ledger.Fresh = nil
		return todo{}
	}
	l.grow(len(fresh))
	due := l.ledger.Fold.Peek().Seq > l.sent.Load()+backlog/2
	for _, e := range fresh {
		l.table.events[l.recorded] = e.Sharing(&l.wires[l.recorded])
		l.recorded++
		l.bytes += int64(e.Size())
		due = due || !e.IsDelta()
		if b, ok := e.Body.(messages.TextClosed); ok && b.Dropped {
			l.forgets = e.Seq
		}
	}
	clear(fresh)
	l.ledger.Fresh = nil
	l.updated.Store(int64(now.Sub(Origin)))
	return l.advance(due)
}

// Origin is the origin of durations on the monotonic clock. Two origins would differ by nanoseconds.
var Origin = time.Now()

// Updated returns the time of the newest event, as a duration since Origin.
func (l *Log) Updated() time.Duration { return time.Duration(l.updated.Load()) }

// grow makes room for n more events. mu must be held.
func (l *Log) grow(n int) {
	if l.recorded+n > len(l.table.events) {
		l.replace(l.table.events[:l.recorded], max(2*len(l.table.events), l.recorded+n), int(l.table.n.Load()))
	}
}

// replace publishes a new table in new memory, because readers hold the old one. mu must be held.
func (l *Log) replace(events []messages.Event, room, visible int) {
	t, wires := newTable(room)
	l.recorded = copy(t.events, events)
	t.n.Store(int64(visible))
	l.table, l.wires = t, wires
	l.shown.Store(t)
}

// advance shows what readers may see, and sends waiting events to the journal now or within journalDelay. mu must be
// held.
func (l *Log) advance(now bool) todo {
	next := todo{show: l.reveal()}
	if now {
		next.block = l.nextBlock()
	} else if !l.sending && l.Dropped() == nil && l.ledger.Fold.Peek().Seq > l.sent.Load() && l.flushAt == nil {
		l.flushAt = time.AfterFunc(journalDelay, func() { l.act(l.flush) })
	}
	return next
}

// flush sends the waiting events to the journal. mu must be held.
func (l *Log) flush() todo {
	l.flushAt = nil
	return l.advance(true)
}

// nextBlock makes a block of the events that were not sent, with their deltas merged. mu must be held.
func (l *Log) nextBlock() *journal.Block {
	if l.sending || l.Dropped() != nil {
		return nil
	}
	if l.flushAt != nil {
		l.flushAt.Stop()
		l.flushAt = nil
	}
	events := l.table.events[:l.recorded:l.recorded]
	waiting := events[journal.FirstAfter(events, l.sent.Load()):]
	if len(waiting) == 0 {
		return nil
	}
	if len(waiting) > 1 {
		waiting = messages.MergeDeltas(waiting)
	}
	l.sending = true
	l.sent.Store(waiting[len(waiting)-1].Seq)
	return &journal.Block{Run: l.id, After: l.head, Epoch: l.ledger.Epoch, Events: waiting}
}

// landed is called when the block on its way is in the journal.
func (l *Log) landed(head journal.Head) { l.act(func() todo { return l.land(head) }) }

// land advances the durable part of the log to head, and collects what that allows. mu must be held.
func (l *Log) land(head journal.Head) todo {
	if l.Dropped() != nil {
		return todo{}
	}
	tell := l.observe(l.head.Seq, head.Seq)
	l.sending, l.head = false, head
	l.durable.Store(head.Seq)
	if l.trouble.Swap(nil) != nil {
		l.over.CompareAndSwap(&closed, nil)
	}
	l.reveal()
	l.compact()
	if l.forgets > 0 && l.forgets <= head.Seq {
		l.forget(head.Seq)
	}
	var ready []waiter
	l.waiters = slices.DeleteFunc(l.waiters, func(w waiter) bool {
		if w.seq <= head.Seq {
			ready = append(ready, w)
			return true
		}
		return false
	})
	if len(l.waiters) == 0 {
		l.waiters = nil
	}
	urgent := int(l.table.n.Load()) < l.recorded && l.flushAt == nil // a milestone waits for the journal
	next := l.advance(urgent)
	next.show, next.ready, next.tell = true, ready, tell
	return next
}

// observe gives the observer the milestones past after, up to seq. mu must be held, so that they come in order.
func (l *Log) observe(after, seq uint64) (rouse bool) {
	observer := l.entry.appender.observer
	if observer == nil {
		return false
	}
	events := l.table.events[:l.recorded]
	for _, e := range events[journal.FirstAfter(events, after):] {
		if e.Seq <= seq && !e.IsDelta() {
			rouse = observer.add(e) || rouse
		}
	}
	return rouse
}

// Drop forgets the live log: another node owns the run, or nobody knows. Readers continue from the journal.
func (l *Log) Drop(why error) { l.act(func() todo { return l.markLost(why) }) }

// markLost marks the live log as dropped, once. mu must be held.
func (l *Log) markLost(why error) todo {
	if l.Dropped() != nil {
		return todo{}
	}
	l.lost.Store(&why)
	if l.flushAt != nil {
		l.flushAt.Stop()
	}
	next := todo{show: true, over: true, ready: l.waiters, why: why, alarm: l.alarm, cause: messages.CauseNodeLost}
	l.waiters, l.sending = nil, false
	return next
}

// Close gives up what the journal has not taken, because the node shuts down. The journal may still take it.
func (l *Log) Close() {
	l.unavailable(messages.Errorf(messages.CauseJournalUnavailable,
		"the node shut down before the journal had taken the events of run %s", l.id))
}

// unavailable is called when the journal has not taken a block for as long as a run may wait.
func (l *Log) unavailable(why *messages.Error) { l.act(func() todo { return l.failWaiters(why) }) }

// failWaiters fails all waiters and raises the alarm. mu must be held.
func (l *Log) failWaiters(why *messages.Error) todo {
	next := todo{show: true, ready: l.waiters, why: why}
	if l.trouble.Swap(why) == nil && l.Dropped() == nil {
		next.alarm, next.cause = l.alarm, messages.CauseJournalUnavailable
	}
	l.waiters = nil
	l.end() // under mu, because a block that lands later undoes this
	return next
}

// WhenDurable calls f once the event is in the journal, or with the reason why nobody will know; 0 means everything that
// is recorded now. f must not block. It is called without mu.
func (l *Log) WhenDurable(seq uint64, f func(error)) {
	if known, err := l.await(seq, f); known {
		f(err)
	}
}

// await registers f for later, unless the answer is known already.
func (l *Log) await(seq uint64, f func(error)) (known bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq > 0 && seq <= l.head.Seq { // whatever happened to the run since
		return true, nil
	}
	seq = cmp.Or(seq, l.ledger.Fold.Peek().Seq)
	if trouble := l.trouble.Load(); l.Dropped() != nil {
		return true, l.Dropped()
	} else if trouble != nil {
		return true, trouble
	}
	if seq <= l.head.Seq {
		return true, nil
	}
	l.waiters = append(l.waiters, waiter{seq, f})
	return false, nil
}

// OnTrouble sets the function to call when the run cannot go on: with node_lost or journal_unavailable.
func (l *Log) OnTrouble(alarm func(messages.Code)) {
	l.mu.Lock()
	l.alarm = alarm
	lost, trouble := l.Dropped(), l.trouble.Load()
	l.mu.Unlock()
	switch {
	case lost != nil:
		alarm(messages.CauseNodeLost)
	case trouble != nil:
		alarm(messages.CauseJournalUnavailable)
	}
}

// Inspect looks for an append that the journal does not answer. Call it every AppendTimeout.
func (l *Log) Inspect() { l.entry.inspect() }

// HasTerminal reports whether the terminal is recorded, durable or not.
func (l *Log) HasTerminal() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.ended()
}

// Newest returns the number of the newest event.
func (l *Log) Newest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.Fold.Peek().Seq
}

// Head returns the end of the journal's log, as far as known.
func (l *Log) Head() journal.Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Unsettled reports whether children or messages in the log have no end.
func (l *Log) Unsettled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.Fold.OpenChildren()+l.ledger.Fold.OpenMessages() > 0
}

// OpenChildren returns the children in the log that have not ended.
func (l *Log) OpenChildren() []messages.ChildState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ledger.Fold.OpenChildren() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.ledger.Fold.Peek().Children),
		func(c messages.ChildState) bool { return c.Status.IsEnded() })
}
