package actors

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	// journalDelay is how late a delta may reach the journal.
	journalDelay = 100 * time.Millisecond
	// backlog is how many events may wait for the journal before tasks have to; at the half of it they are sent at once.
	backlog = 4096
	// compactAfter is how many raw deltas the log's end holds before they are merged.
	compactAfter = 256
	// firstEvents is what there is room for from the start: few runs say less.
	firstEvents = 5
)

// runLog is the log of an active run: a ledger that says what is true, a board that shows it, and an entry by which the
// appender keeps it. It is not an actor: whatever else fails, this may not.
//
// Invariants, under mu: events[:recorded] are contiguous by the reader's law; the ledger has the sum of all of them;
// nothing past sent has been sent; one block is under way at most.
type runLog struct {
	view
	maxBytes int64
	counts   *counts
	updated  atomic.Int64 // of the newest event, since the System began

	mu       sync.Mutex // of the run's actor, its supervisor and the appender; readers take none
	ledger   ledger
	table    *table
	recorded int // events of the table that are written
	tidy     int // events[:tidy] are merged, up to a milestone
	bytes    int64
	// squeezeAt is how many bytes beyond the limit are looked at again.
	squeezeAt int64
	head      Head // of the journal, as it is known
	sent      uint64
	sending   bool
	epoch     uint64      // of this node's ownership; 0 before its owning event
	flushAt   *time.Timer // armed while deltas wait for the journal
	entry     entry
	lost      error // why the log was dropped
	alarm     func(messages.Cause)
	waiters   []waiter
}

// waiter is told when the event of the number is in the journal, or why it will not be known to be.
type waiter struct {
	seq uint64
	f   func(error)
}

func newLog(id messages.RunID, a *appender, maxBytes int64, c *counts) *runLog {
	l := &runLog{view: view{id: id}, maxBytes: maxBytes, counts: c, ledger: ledger{id: id}}
	l.entry = entry{appender: a, log: l}
	l.table = newTable(firstEvents)
	l.shown.Store(l.table)
	return l
}

// resume makes the log that of a run that the journal has already, as folded up to the head.
func (l *runLog) resume(f *messages.Fold, head Head) {
	l.fold, l.base = messages.NewFold(f.State()), head.Seq
	l.ledger.fold, l.head, l.sent = *f, head, head.Seq
	l.durable.Store(head.Seq)
}

// with calls f with the ledger, publishes what f records, and has it kept. now is when it happens.
func (l *runLog) with(now time.Time, f func(*ledger)) {
	l.mu.Lock()
	f(&l.ledger)
	l.commit(now)
}

// record takes down one event. Its errors are the ledger's, and the reason where the log was dropped.
func (l *runLog) record(now time.Time, body messages.Body, message string) (err error) {
	l.with(now, func(g *ledger) {
		if err = l.lost; err == nil {
			err = g.record(now, body, message)
		}
	})
	return err
}

// finish writes the terminal unless there is one, and reports whether it did.
func (l *runLog) finish(now time.Time, word messages.Body, message string) (did bool) {
	l.with(now, func(g *ledger) { did = l.lost == nil && g.finish(now, word, message) })
	if !did {
		l.counts.lateFinishes.Add(1)
	}
	return did
}

// commit publishes the ledger's fresh events and sends what is due. It is called under mu and unlocks it.
func (l *runLog) commit(now time.Time) {
	fresh := l.ledger.fresh
	if len(fresh) == 0 || l.lost != nil {
		l.ledger.fresh = nil
		l.mu.Unlock()
		return
	}
	l.grow(len(fresh))
	due := l.ledger.fold.Look().Seq > l.sent+backlog/2
	for _, e := range fresh {
		l.table.events[l.recorded] = e.Sharing(&l.table.wires[l.recorded])
		l.recorded++
		l.bytes += int64(e.Size())
		due = due || !e.IsDelta()
	}
	clear(fresh)
	l.ledger.fresh = nil
	l.updated.Store(sinceStart(now))
	l.advance(due, nil)
}

// epochStart is what clocks that must not jump count from.
var epochStart = time.Now()

func sinceStart(t time.Time) int64 { return int64(t.Sub(epochStart)) }

// grow makes room for n more events. Under mu.
func (l *runLog) grow(n int) {
	if l.recorded+n > len(l.table.events) {
		l.replace(l.table.events[:l.recorded], max(2*len(l.table.events), l.recorded+n), int(l.table.n.Load()))
	}
}

// replace shows another table, in new memory because readers hold the old one. Under mu.
func (l *runLog) replace(events []messages.Event, room, visible int) {
	t := newTable(room)
	l.recorded = copy(t.events, events)
	t.n.Store(int64(visible))
	l.table = t
	l.shown.Store(t)
}

// advance shows what may be shown and sends what waits to the journal, now or within journalDelay; then it tells those
// whose events are durable. It is called under mu and unlocks it.
func (l *runLog) advance(now bool, told []waiter) {
	shown := l.reveal()
	var block Block
	send := false
	if now {
		block, send = l.nextBlock()
	} else if !l.sending && l.lost == nil && l.ledger.fold.Look().Seq > l.sent && l.flushAt == nil {
		l.flushAt = time.AfterFunc(journalDelay, l.flush)
	}
	l.mu.Unlock()
	if shown {
		l.notify()
	}
	for _, w := range told {
		w.f(nil)
	}
	if send {
		l.entry.send(block)
	}
}

// flush sends what waits to the journal.
func (l *runLog) flush() {
	l.mu.Lock()
	l.flushAt = nil
	l.advance(true, nil)
}

// nextBlock takes what has not been sent, with its deltas merged; under mu.
func (l *runLog) nextBlock() (Block, bool) {
	if l.sending || l.lost != nil {
		return Block{}, false
	}
	if l.flushAt != nil {
		l.flushAt.Stop()
		l.flushAt = nil
	}
	events := l.table.events[:l.recorded:l.recorded]
	waiting := events[firstAfter(events, l.sent):]
	if len(waiting) == 0 {
		return Block{}, false
	}
	if len(waiting) > 1 {
		waiting = mergeDeltas(waiting)
	}
	l.sending, l.sent = true, waiting[len(waiting)-1].Seq
	return Block{Run: l.id, After: l.head, Epoch: l.epoch, Events: waiting}, true
}

// landed is told that the block under way is in the journal.
func (l *runLog) landed(head Head) {
	l.mu.Lock()
	if l.lost != nil {
		l.mu.Unlock()
		return
	}
	l.sending, l.head = false, head
	l.durable.Store(head.Seq)
	if l.trouble.Swap(nil) != nil {
		l.over.CompareAndSwap(&closed, nil)
	}
	l.reveal()
	l.compact()
	var told []waiter
	l.waiters = slices.DeleteFunc(l.waiters, func(w waiter) bool {
		if w.seq <= head.Seq {
			told = append(told, w)
			return true
		}
		return false
	})
	if len(l.waiters) == 0 {
		l.waiters = nil
	}
	l.notify()
	urgent := int(l.table.n.Load()) < l.recorded && l.flushAt == nil // a milestone waits for the journal
	l.advance(urgent, told)
}

// drop forgets the live log: somebody else owns the run, or nobody can say. Readers go on from the journal.
func (l *runLog) drop(why error) {
	l.mu.Lock()
	if l.lost != nil {
		l.mu.Unlock()
		return
	}
	l.lost = why
	l.liveDropped.Store(true)
	l.counts.fenced.Add(1)
	if l.flushAt != nil {
		l.flushAt.Stop()
	}
	waiters, alarm := l.waiters, l.alarm
	l.waiters, l.sending = nil, false
	l.mu.Unlock()
	l.entry.forget()
	for _, w := range waiters {
		w.f(why)
	}
	l.end()
	l.notify()
	if alarm != nil {
		alarm(messages.CauseNodeLost)
	}
}

// starve is told that the journal has not taken the block under way for as long as a run waits.
func (l *runLog) unavailable(why *messages.Error) {
	l.mu.Lock()
	first := l.trouble.Swap(why) == nil && l.lost == nil
	waiters, alarm := l.waiters, l.alarm
	l.waiters = nil
	l.end() // under mu: a block that lands now takes it back
	l.mu.Unlock()
	for _, w := range waiters {
		w.f(why)
	}
	l.notify()
	if first && alarm != nil {
		alarm(messages.CauseJournalUnavailable)
	}
}

// whenDurable calls f once what has been recorded is in the journal, at once if it is, or with the reason why that will
// not be known. f must not block. It is called without mu.
func (l *runLog) whenDurable(f func(error)) { l.whenAt(0, f) }

// whenAt is whenDurable for the event of the number; 0 is the last.
func (l *runLog) whenAt(seq uint64, f func(error)) {
	l.mu.Lock()
	if seq == 0 {
		seq = l.ledger.fold.Look().Seq
	}
	err := l.lost
	if trouble := l.trouble.Load(); err == nil && trouble != nil {
		err = trouble
	}
	if err == nil && seq > l.head.Seq {
		l.waiters = append(l.waiters, waiter{seq, f})
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	f(err)
}

// watched sets what is told when the run cannot go on: node_lost, or journal_unavailable.
func (l *runLog) watched(alarm func(messages.Cause)) {
	l.mu.Lock()
	l.alarm = alarm
	lost, trouble := l.lost, l.trouble.Load()
	l.mu.Unlock()
	switch {
	case lost != nil:
		alarm(messages.CauseNodeLost)
	case trouble != nil:
		alarm(messages.CauseJournalUnavailable)
	}
}

// dropped reports why the log was dropped, or nil.
func (l *runLog) dropped() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// standing reports whether the terminal is recorded, durable or not.
func (l *runLog) hasTerminal() (ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.ended()
}

// reveal moves what readers see over everything before the first milestone that is not durable, and over no delta
// further than the reserve past the last durable event. Under mu.
func (l *runLog) reveal() bool {
	durable, before := l.durable.Load(), int(l.table.n.Load())
	n := before
	for ; n < l.recorded; n++ {
		e := &l.table.events[n]
		if e.Seq > durable && (!e.IsDelta() || e.Seq > durable+messages.Reserve) {
			break
		}
	}
	if n == before {
		return false
	}
	if n == l.recorded && l.table.events[n-1].IsTerminal() {
		state := l.ledger.fold.State()
		l.final.Store(&state)
		l.table.n.Store(int64(n))
		l.end()
		return true
	}
	l.table.n.Store(int64(n))
	return true
}

// nextEpoch returns the epoch of an ownership that begins now.
func (l *runLog) nextEpoch() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head.Epoch + 1
}

// ledger is a run's log in the making: it stamps events, has them judged, and keeps their sum. It has no lock, no clock
// and no journal; whoever holds the run's log drives it.
type ledger struct {
	id   messages.RunID
	fold messages.Fold
	// fresh are the events recorded since they were last taken.
	fresh []messages.Event
	// faulty counts, by task, the faults that a test injected and that nothing has come of yet; "" is the run's own actor.
	faulty map[string]int
}

// record stamps an event and takes it down. Its error is a *messages.Refusal when the event is not legal now, and
// limit_exceeded when it is larger than an event may be.
func (l *ledger) record(now time.Time, body messages.Body, message string) error {
	seq := l.fold.Look().Seq + 1
	if f, ok := body.(messages.FaultInjected); ok {
		if l.faulty == nil {
			l.faulty = map[string]int{}
		}
		l.faulty[f.Task]++
	}
	return l.take(messages.Event{RunID: l.id, From: seq, Seq: seq, Time: now, Message: message, Body: body})
}

// said is record for what a task says: the event becomes the task's.
func (l *ledger) emitted(now time.Time, task string, body messages.Body, message string) error {
	return l.record(now, l.stamp(body, task), message)
}

// recover takes down the event with which a new owner begins: numbers, over the reserve, and the rewind are the fold's.
func (l *ledger) recover(now time.Time, message string, body func(rewind *messages.Rewind) messages.Body) error {
	from, seq, rewind := l.fold.Look().Recovery()
	return l.take(messages.Event{RunID: l.id, From: from, Seq: seq, Time: now, Message: message, Body: body(rewind)})
}

func (l *ledger) take(e messages.Event) error {
	if n := e.Size(); n > messages.MaxEventBytes {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"a %s of %d bytes is too large: an event has %d at most", e.Kind(), n, messages.MaxEventBytes)
	}
	if err := l.fold.Apply(e); err != nil {
		return err
	}
	l.fresh = append(l.fresh, e)
	return nil
}

// stamp fills in what the run alone knows: the task, a stream's offset and index, a log line's number. A delta of a text
// is copied once.
func (l *ledger) stamp(b messages.Body, task string) messages.Body {
	switch b := b.(type) {
	case messages.TextDelta:
		t, _ := l.fold.Stream(b.Stream)
		b.Task, b.Index, b.Offset, b.Count = task, t.Index, t.Len(), 0
		return b
	case messages.ThoughtDelta:
		t, _ := l.fold.Stream(b.Stream)
		b.Task, b.Index, b.Offset, b.Count = task, t.Index, t.Len(), 0
		return b
	}
	b = messages.Owned(b, task)
	if b, ok := b.(messages.Log); ok {
		for i := range b.Lines { // they were copied by Owned
			b.Lines[i].Number = l.fold.Look().Log.Next + uint64(i)
		}
	}
	return b
}

// cause returns the cause of a failure of the task, or of the run's own actor: injected where a test has injected it.
func (l *ledger) cause(task string, otherwise messages.Cause) messages.Cause {
	if l.faulty[task] > 0 {
		l.faulty[task]--
		return messages.CauseInjected
	}
	return otherwise
}

// finish takes down the terminal unless there is one, and reports whether it did. Once a cancel is accepted the terminal
// is run.canceled, whoever asks.
func (l *ledger) finish(now time.Time, word messages.Body, message string) bool {
	if l.ended() {
		return false
	}
	last := l.fold.Look().LastWord(word)
	if last.Kind() != word.Kind() {
		message = "canceled"
	}
	err := l.record(now, last, message)
	if err == nil {
		return true
	}
	// Only a run.completed can be refused: a task is open, or the result is too large.
	failed := messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
		Error: messages.Errorf(messages.Code(messages.CauseError), "%v", err)}
	if messages.CodeOf(err) == messages.Code(messages.CauseLimitExceeded) {
		failed.Cause, failed.Error.Code = messages.CauseLimitExceeded, messages.Code(messages.CauseLimitExceeded)
	}
	return l.record(now, l.fold.Look().LastWord(failed), err.Error()) == nil
}

func (l *ledger) ended() bool { return l.fold.Look().Status.IsEnded() }
