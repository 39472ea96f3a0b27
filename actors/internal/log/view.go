package log

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// view is what readers see of an active run. Only the run's log writes it. Readers share no lock with the log: what
// is published never changes, and what changes is replaced.
type view struct {
	id messages.RunID
	// base is the number of the last event that only the journal holds.
	base uint64
	// shown is the table that readers read, up to its n.
	shown atomic.Pointer[table]
	// durable is the number of the last event that is known to be in the journal.
	durable atomic.Uint64
	// sent is the number of the last event that was sent to the journal. Readers may see events that are not known to
	// be there.
	sent atomic.Uint64
	// lost is why the live log was dropped. Readers then read the journal.
	lost atomic.Pointer[error]
	// trouble is why the journal does not take the run's events, while that lasts.
	trouble atomic.Pointer[messages.Error]
	// final is the State at the terminal, once readers see it.
	final atomic.Pointer[messages.State]
	// over is closed when the terminal is visible, the live log was dropped, or trouble is set.
	over   atomic.Pointer[chan struct{}]
	wakers atomic.Pointer[[]Wake]

	readersMu sync.Mutex
	readers   int
	reading   *messages.Fold // sum of the visible events, for readers that ask for the State
}

// table holds events. The writer writes beyond n, and then raises n; events[:n] never change.
type table struct {
	n      atomic.Int64
	events []messages.Event
}

// newTable returns a table, and the wire forms of the events that will be recorded into it.
func newTable(room int) (*table, []messages.Wire) {
	if room == firstEvents { // most runs need no other
		var first struct {
			table
			events [firstEvents]messages.Event
			wires  [firstEvents]messages.Wire
		}
		t := &first
		t.table.events = t.events[:]
		return &t.table, t.wires[:]
	}
	return &table{events: make([]messages.Event, room)}, make([]messages.Wire, room)
}

// visible returns the events that readers may see. They must not be changed.
func (b *view) visible() []messages.Event {
	t := b.shown.Load()
	if t == nil {
		return nil
	}
	n := t.n.Load()
	return t.events[:n:n]
}

// Durable returns the number of the last event that is known to be in the journal.
func (b *view) Durable() uint64 { return b.durable.Load() }

// Final returns the State at the terminal, or nil while readers do not see that.
func (b *view) Final() *messages.State { return b.final.Load() }

// Trouble returns why the journal does not take the run's events, or nil.
func (b *view) Trouble() *messages.Error { return b.trouble.Load() }

// Dropped returns why the live log was dropped, or nil.
func (b *view) Dropped() error {
	if why := b.lost.Load(); why != nil {
		return *why
	}
	return nil
}

// Holds reports whether the log has all events past the cursor. Otherwise only the journal has them.
func (b *view) Holds(after uint64) bool { return b.Dropped() == nil && after >= b.base }

// readBatch is the greatest number of events that one read returns. A reader further behind gets merged deltas.
const readBatch = 256

// Read returns the visible events past the cursor, merged if the reader is far behind. Events are shared: do not
// change them. A dropped log has none.
func (b *view) Read(after uint64) (journal.Batch, error) {
	if b.Dropped() != nil {
		return journal.Batch{}, nil
	}
	trouble := b.trouble.Load()
	durable := b.durable.Load()
	shown := b.visible()
	got := journal.Batch{Events: shown[journal.FirstAfter(shown, after):]}
	if n := len(shown); n > 0 && shown[n-1].IsTerminal() {
		if after > shown[n-1].Seq {
			return journal.Batch{}, journal.ErrReset(b.id, after)
		}
		got.Over = true
	} else if after > max(durable, b.sent.Load())+messages.Reserve {
		return journal.Batch{}, journal.ErrReset(b.id, after)
	}
	switch {
	case len(got.Events) > readBatch:
		return catchUp(got), nil
	case len(got.Events) == 0 && !got.Over && trouble != nil:
		return got, trouble
	}
	return got, nil
}

// State returns the State of the visible events. Only readers pay for it, and each event is folded once for all of
// them.
func (b *view) State() messages.State {
	if final := b.final.Load(); final != nil {
		return *final
	}
	b.readersMu.Lock()
	defer b.readersMu.Unlock()
	if b.reading == nil {
		b.reading = &messages.Fold{}
	}
	shown := b.visible()
	for _, e := range shown[journal.FirstAfter(shown, b.reading.Peek().Seq):] {
		_ = b.reading.Apply(e) // the ledger has judged it
	}
	return b.reading.State()
}

// Enter adds a reader, whom wake tells that more is visible.
func (b *view) Enter(limit int, wake Wake) error {
	b.readersMu.Lock()
	defer b.readersMu.Unlock()
	if b.readers >= limit {
		return messages.LimitExceeded("run %s has %d readers already; close one or raise the limit", b.id, limit)
	}
	b.readers++
	b.setWakeChannels(append(slices.Clip(b.wakeChannels()), wake))
	return nil
}

// Leave removes a reader.
func (b *view) Leave(wake Wake) {
	b.readersMu.Lock()
	defer b.readersMu.Unlock()
	b.readers--
	b.setWakeChannels(slices.DeleteFunc(slices.Clone(b.wakeChannels()), func(c Wake) bool { return c == wake }))
}

// wakeChannels returns the readers' wake channels.
func (b *view) wakeChannels() []Wake {
	if p := b.wakers.Load(); p != nil {
		return *p
	}
	return nil
}

func (b *view) setWakeChannels(wakers []Wake) { b.wakers.Store(&wakers) }

// notify wakes every reader. Each has its own channel: on a shared one, readers would wait for each other.
func (b *view) notify() {
	for _, wake := range b.wakeChannels() {
		wake.Notify()
	}
}

// Wake wakes one reader. It is a channel of capacity 1.
type Wake chan struct{}

// Notify sends one wake-up, however often it is called before the receiver takes it.
func (w Wake) Notify() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// closed is a channel that is closed already.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// AtEnd returns a channel that is closed when the terminal is visible, the live log was dropped, or the journal is in
// trouble. After trouble that has passed, ask for a new channel.
func (b *view) AtEnd() <-chan struct{} {
	if p := b.over.Load(); p != nil {
		return *p
	}
	c := make(chan struct{})
	if !b.over.CompareAndSwap(nil, &c) {
		return *b.over.Load()
	}
	return c
}

// end closes over.
func (b *view) end() {
	if p := b.over.Swap(&closed); p != nil && *p != closed {
		close(*p)
	}
}

// reveal shows readers everything before the first milestone that is not durable, and at most Reserve deltas past the
// last durable event. It reports whether more is visible. mu must be held.
func (l *Log) reveal() bool {
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
		state := l.ledger.Fold.State()
		l.final.Store(&state)
		l.table.n.Store(int64(n))
		l.end()
		return true
	}
	l.table.n.Store(int64(n))
	return true
}

// catchUp bounds one read: it merges deltas, and leaves what is more than a batch for the next read.
func catchUp(b journal.Batch) journal.Batch {
	var out []messages.Event
	rest := b.Events
	for len(rest) > 0 && len(out) < readBatch {
		n := messages.Stretch(rest)
		out = append(out, messages.Merge(rest[:n]))
		rest = rest[n:]
	}
	return journal.Batch{Events: out, More: len(rest) > 0, Over: b.Over && len(rest) == 0}
}

// size returns the encoded size of the events.
func size(events []messages.Event) int64 {
	var n int64
	for _, e := range events {
		n += int64(e.Size())
	}
	return n
}
