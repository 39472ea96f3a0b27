package actors

import (
	"context"
	"errors"
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
	// readBatch is how many events one read returns; a reader that is further behind is given merged deltas.
	readBatch = 256
	// firstEvents is what there is room for from the start: few runs say less.
	firstEvents = 6
)

// liveLog is the log of an active run. It is not an actor: whatever else fails, this may not.
//
// Invariants, under mu: events are contiguous by the reader's law; state is the fold of all of them; events[:visible]
// may be read; nothing with Seq <= sent is sent again unless its append failed.
type liveLog struct {
	id       messages.RunID
	journal  Journal
	maxBytes int64
	updated  atomic.Int64 // unix nanoseconds of the newest event, for the watchdog

	mu      sync.Mutex
	state   messages.State
	events  []messages.Event
	visible int
	tidy    int // events[:tidy] are merged, up to a milestone
	bytes   int64
	// squeezeAt is how many bytes beyond the limit are looked at again.
	squeezeAt int64
	sent      uint64
	durable   uint64
	sending   bool
	failing   int         // attempts of the block under way that failed
	flushAt   *time.Timer // armed while deltas wait for the journal
	key       Key
	gone      error // why the log was dropped: it was fenced
	readers   int
	bells     []chan struct{} // of the readers; rung without mu, and therefore never changed in place
	over      chan struct{}   // closed at the end, once told
	told      bool
	lost      func()   // called when the log is dropped
	once      []func() // called when more is durable, or the log dropped
	counts    *counts
}

// counts are a System's counters.
type counts struct {
	started, ended, refused, losers, fenced, retries, subscriptions atomic.Int64
}

func newLog(id messages.RunID, j Journal, maxBytes int64, key Key, c *counts) *liveLog {
	return &liveLog{id: id, journal: j, maxBytes: maxBytes, key: key, counts: c,
		events: make([]messages.Event, 0, firstEvents)}
}

// record stamps and appends one event. It answers a *messages.Refusal when the event is not legal now.
func (l *liveLog) record(body messages.Body, message string) error {
	l.mu.Lock()
	if err := l.push(body, message); err != nil {
		l.mu.Unlock()
		return err
	}
	l.advance(body.Kind().Level() == messages.Milestone || l.state.Seq > l.sent+backlog/2, false, false)
	return nil
}

// finish writes the terminal unless there is one, and reports whether it did. Once a cancel is accepted the terminal is
// run.canceled, whoever calls.
func (l *liveLog) finish(word messages.Body, message string) bool {
	l.mu.Lock()
	if l.state.Status.IsEnded() || l.gone != nil {
		l.mu.Unlock()
		l.counts.losers.Add(1)
		return false
	}
	last := l.state.LastWord(word)
	if last.Kind() != word.Kind() {
		message = "canceled"
	}
	err := l.push(last, message)
	if err != nil { // only a run.completed can be illegal: a task is still open
		err = l.push(messages.RunFailed{By: messages.ByRun, Cause: messages.CauseError, Artifacts: []messages.Artifact{},
			Error: messages.Errorf(messages.Code(messages.CauseError), "%v", err)}, err.Error())
	}
	l.advance(true, false, false)
	return err == nil
}

// push appends under mu.
func (l *liveLog) push(body messages.Body, message string) error {
	if l.gone != nil {
		return l.gone
	}
	seq := l.state.Seq + 1
	e := messages.Event{RunID: l.id, Seq: seq, From: seq, Time: time.Now().UTC(), Message: message}
	e.Body = stamp(l.state, body)
	next, err := l.state.Apply(e)
	if err != nil {
		l.counts.refused.Add(1)
		return err
	}
	l.state = next
	l.events = append(l.events, e)
	l.bytes += int64(e.Size())
	l.updated.Store(e.Time.UnixNano())
	return nil
}

// stamp fills in what the run alone knows: a stream's offset and index, a log line's number.
func stamp(s messages.State, b messages.Body) messages.Body {
	switch b := b.(type) {
	case messages.TextDelta:
		t, _ := s.Stream(b.Stream)
		b.Index, b.Offset = t.Index, t.Len()
		return b
	case messages.ThoughtDelta:
		t, _ := s.Stream(b.Stream)
		b.Index, b.Offset = t.Index, t.Len()
		return b
	case messages.Log:
		for i := range b.Lines {
			b.Lines[i].Number = s.Log.Next + uint64(i)
		}
		return b
	}
	return b
}

// flush sends what waits to the journal.
func (l *liveLog) flush() {
	l.mu.Lock()
	l.advance(true, false, false)
}

// flushAfter has what waits sent to the journal when the time has passed, unless it is sent before. Under mu.
func (l *liveLog) flushAfter(d time.Duration) {
	if l.flushAt != nil {
		l.flushAt.Stop()
	}
	l.flushAt = time.AfterFunc(d, l.flush)
}

// advance shows what may be shown and sends what waits to the journal, now or within journalDelay. It tells those who
// wait for either: shown says that more is visible already, and durable that the journal has more. It is called under mu
// and unlocks it.
func (l *liveLog) advance(now, shown, durable bool) {
	shown = l.reveal() || shown
	block, send := Block{}, false
	if now {
		block, send = l.nextBlock()
	} else if l.flushAt == nil && !l.sending && l.gone == nil && l.state.Seq > l.sent {
		l.flushAfter(journalDelay)
	}
	bells, once := l.waiting(shown, durable)
	l.mu.Unlock()
	for _, bell := range bells {
		ring(bell)
	}
	for _, f := range once {
		f()
	}
	if send {
		events := block.Events
		l.journal.Append(block, func(err error) { l.appended(events, err) })
	}
}

// nextBlock takes what has not been sent, with its deltas merged; under mu.
func (l *liveLog) nextBlock() (Block, bool) {
	if l.flushAt != nil {
		l.flushAt.Stop()
		l.flushAt = nil
	}
	if l.sending || l.gone != nil {
		return Block{}, false
	}
	waiting := l.events[firstAfter(l.events, l.sent):]
	if len(waiting) == 0 {
		return Block{}, false
	}
	block := Block{Run: l.id, Events: waiting[:len(waiting):len(waiting)]}
	if len(waiting) > 1 {
		block.Events = mergeDeltas(waiting)
	}
	if waiting[0].Seq == 1 {
		block.Key = l.key
	}
	l.sending, l.sent = true, waiting[len(waiting)-1].Seq
	return block, true
}

// appended is told how an append ended.
func (l *liveLog) appended(block []messages.Event, err error) {
	if errors.Is(err, ErrUnknown) {
		known := false
		if err, known = l.landed(block[0]); !known {
			// Appending again without knowing would meet our own block and take it for another owner's.
			time.AfterFunc(journalDelay, func() { l.appended(block, ErrUnknown) })
			return
		}
	}
	l.mu.Lock()
	l.sending = false
	var used *KeyUsedError
	switch {
	case err == nil:
		l.failing, l.durable = 0, block[len(block)-1].Seq
	case errors.Is(err, ErrFenced) || errors.Is(err, ErrSealed) || errors.As(err, &used):
		l.drop(err)
	default:
		l.sent = block[0].From - 1
		l.failing++
		l.counts.retries.Add(1)
		l.flushAfter(min(journalDelay<<min(l.failing, 6), 5*time.Second))
	}
	shown := l.reveal()
	l.compact()
	urgent := l.visible < len(l.events) && l.flushAt == nil // a milestone waits for the journal
	l.advance(urgent, shown, err == nil)
}

// landed finds out what became of a block, known by its first event, whose append has no known outcome; known is false
// while the journal does not say.
func (l *liveLog) landed(first messages.Event) (outcome error, known bool) {
	kept, err := l.journal.Read(context.Background(), l.id, first.From-1)
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound || err == nil && len(kept) == 0:
		return errNotLanded, true
	case err != nil:
		return nil, false
	case kept[0].Seq == first.Seq && kept[0].Time.Equal(first.Time) && kept[0].Kind() == first.Kind():
		return nil, true
	}
	return ErrFenced, true
}

var errNotLanded = errors.New("the block did not land")

// drop forgets the live log: somebody else owns the run. Readers go on from the journal. Under mu.
func (l *liveLog) drop(err error) {
	l.gone = err
	l.events, l.visible, l.tidy = nil, 0, 0
	l.counts.fenced.Add(1)
	if l.lost != nil {
		l.once = append(l.once, l.lost)
	}
}

// onDrop has f called when the log is dropped.
func (l *liveLog) onDrop(f func()) {
	l.mu.Lock()
	gone := l.gone != nil
	l.lost = f
	l.mu.Unlock()
	if gone {
		f()
	}
}

// reveal moves visible over everything before the first milestone that is not durable, and over no delta further than
// the reserve past the last durable event. Under mu.
func (l *liveLog) reveal() bool {
	before := l.visible
	for l.visible < len(l.events) {
		e := l.events[l.visible]
		if e.Seq > l.durable && (!e.IsDelta() || e.Seq > l.durable+messages.Reserve) {
			break
		}
		l.visible++
	}
	return l.visible != before || l.gone != nil
}

// waiting returns the readers, who wait for more to be visible, and takes out those who wait for the journal. Under mu.
func (l *liveLog) waiting(shown, durable bool) (bells []chan struct{}, once []func()) {
	if shown {
		bells = l.bells
		l.tellOver()
	}
	if durable || l.gone != nil {
		once, l.once = l.once, nil
	}
	return bells, once
}

// compact merges durable deltas once there are many: those before a milestone whole, those at the log's end in runs of
// doubling length, so that the log holds few events for many deltas and each byte is copied a logarithmic number of
// times. Under mu.
func (l *liveLog) compact() {
	end := firstAfter(l.events, l.durable)
	open := end
	for open > l.tidy && l.events[open-1].IsDelta() {
		open--
	}
	if open-l.tidy >= max(compactAfter, l.tidy/4) {
		n := l.replace(l.tidy, open)
		l.tidy, end = l.tidy+n, l.tidy+n+end-open
	}
	l.compactEnd(end)
}

func (l *liveLog) compactEnd(end int) {
	start := end
	for start > 0 && l.events[start-1].IsDelta() && l.events[start-1].From == l.events[start-1].Seq {
		start--
	}
	if end-start < compactAfter {
		return
	}
	weight := func(e messages.Event) uint64 { return e.Seq - e.From + 1 }
	size := uint64(end - start)
	for start > 0 && messages.CanMerge(l.events[start-1], l.events[start]) && weight(l.events[start-1]) <= size {
		start--
		size += weight(l.events[start])
	}
	l.replace(start, end)
}

// overLimit reports whether the log holds more than it may, all its deltas merged, and pressed whether tasks must wait
// for the journal.
func (l *liveLog) overLimit() (over, pressed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes > max(l.maxBytes, l.squeezeAt) {
		l.replace(0, firstAfter(l.events, l.durable))
		waiting := l.events[firstAfter(l.events, l.durable):]
		over = l.bytes-size(waiting)+size(mergeDeltas(waiting)) > l.maxBytes
		// What is under the limit only after merging everything is not merged again for every event.
		l.squeezeAt = l.bytes + l.maxBytes/16
	}
	return over, l.gone == nil && l.state.Seq > l.durable+backlog
}

// replace merges the deltas of events[start:end], in new memory because readers hold the old, and returns how many
// events are left of them. Under mu; the events are durable, and therefore visible.
func (l *liveLog) replace(start, end int) int {
	old := l.events[start:end]
	merged := mergeDeltas(old)
	out := make([]messages.Event, 0, len(l.events)-len(old)+len(merged)+compactAfter)
	out = append(append(append(out, l.events[:start]...), merged...), l.events[end:]...)
	l.bytes += size(merged) - size(old)
	l.visible -= len(old) - len(merged)
	l.events, l.tidy = out, min(l.tidy, start)
	return len(merged)
}

func size(events []messages.Event) int64 {
	var n int64
	for _, e := range events {
		n += int64(e.Size())
	}
	return n
}

// dropped reports whether the log was dropped, and why says what for.
func (l *liveLog) dropped() bool { return l.why() != nil }

func (l *liveLog) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// shows reports whether anything is visible.
func (l *liveLog) shows() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.visible > 0
}

// whenDurable reports whether everything recorded is in the journal; while it is not, f is called when more is.
func (l *liveLog) whenDurable(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil || l.durable == l.state.Seq {
		return true
	}
	l.once = append(l.once, f)
	return false
}

// onDurable calls f once, when the journal has more, or the log is dropped.
func (l *liveLog) onDurable(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.once = append(l.once, f)
}

// snapshot returns the fold of everything visible.
func (l *liveLog) snapshot() messages.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.visible == len(l.events) {
		return l.state
	}
	var s messages.State
	for _, e := range l.events[:l.visible] {
		s, _ = s.Apply(e)
	}
	return s
}

// current returns the fold of everything recorded.
func (l *liveLog) current() messages.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}
