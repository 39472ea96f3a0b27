package actors

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
	"go.uber.org/zap"
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
	// liveDropped: the live log was dropped, and readers read the journal.
	liveDropped atomic.Bool
	// trouble is why the journal does not take the run's events, while that lasts.
	trouble atomic.Pointer[messages.Error]
	// final is the State at the terminal, once readers see it.
	final atomic.Pointer[messages.State]
	// over is closed when the terminal is visible, the live log was dropped, or trouble is set.
	over   atomic.Pointer[chan struct{}]
	wakers atomic.Pointer[[]chan struct{}]

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

// batch is the result of one read.
type batch struct {
	journal.Batch
	dropped bool // the live log was dropped
}

// readBatch is the greatest number of events that one read returns. A reader further behind gets merged deltas.
const readBatch = 256

// read returns the visible events past the cursor, merged if the reader is far behind. Events are shared: do not
// change them.
func (b *view) read(after uint64) (batch, error) {
	if b.liveDropped.Load() {
		return batch{dropped: true}, nil
	}
	trouble := b.trouble.Load()
	durable := b.durable.Load()
	shown := b.visible()
	got := batch{Batch: journal.Batch{Events: shown[journal.FirstAfter(shown, after):]}}
	if n := len(shown); n > 0 && shown[n-1].IsTerminal() {
		if after > shown[n-1].Seq {
			return batch{}, journal.ErrReset(b.id, after)
		}
		got.Over = true
	} else if after > max(durable, b.sent.Load())+messages.Reserve {
		return batch{}, journal.ErrReset(b.id, after)
	}
	switch {
	case len(got.Events) > readBatch:
		return catchUp(got), nil
	case len(got.Events) == 0 && !got.Over && trouble != nil:
		return got, trouble
	}
	return got, nil
}

// state returns the State of the visible events. Only readers pay for it, and each event is folded once for all of
// them.
func (b *view) state() messages.State {
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

// enter adds a reader, whose wake channel is notified when more is visible.
func (b *view) enter(limit int, wake chan struct{}) error {
	b.readersMu.Lock()
	defer b.readersMu.Unlock()
	if b.readers >= limit {
		return messages.Errorf(messages.CauseLimitExceeded,
			"run %s has %d readers already; close one or raise the limit", b.id, limit)
	}
	b.readers++
	b.setWakeChannels(append(slices.Clip(b.wakeChannels()), wake))
	return nil
}

func (b *view) leave(wake chan struct{}) {
	b.readersMu.Lock()
	defer b.readersMu.Unlock()
	b.readers--
	b.setWakeChannels(slices.DeleteFunc(slices.Clone(b.wakeChannels()), func(c chan struct{}) bool { return c == wake }))
}

// wakeChannels returns the readers' wake channels.
func (b *view) wakeChannels() []chan struct{} {
	if p := b.wakers.Load(); p != nil {
		return *p
	}
	return nil
}

func (b *view) setWakeChannels(wakers []chan struct{}) { b.wakers.Store(&wakers) }

// notify wakes every reader. Each has its own channel: on a shared one, readers would wait for each other.
func (b *view) notify() {
	for _, wake := range b.wakeChannels() {
		notify(wake)
	}
}

// notify sends one wake-up, however often it is called before the receiver takes it.
func notify(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// closed is a channel that is closed already.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// atEnd returns the channel over.
func (b *view) atEnd() <-chan struct{} {
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

// observer passes milestones on to Config.Observe, one at a time and in a goroutine of its own. So a function that
// blocks or panics costs the runs nothing.
type observer struct {
	tell func(messages.Event)
	node *supervision.Node
	log  *zap.Logger

	mu      sync.Mutex // innermost lock: taken while a log's mu is held
	waiting []messages.Event
	busy    bool
	idle    context.CancelFunc // called when nothing waits any more, if somebody waits for that
	missed  bool               // there was no room for some milestones
}

// mostObserved is how many milestones may wait for Observe. Later ones are dropped.
const mostObserved = 1 << 16

// add queues a milestone. It reports whether the observer must be started, with the node's Call.
func (o *observer) add(e messages.Event) (rouse bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == mostObserved {
		o.missed = true
		return false
	}
	o.waiting = append(o.waiting, e.Unshared())
	rouse, o.busy = !o.busy, true
	return rouse
}

// Work implements [supervision.Work].
func (o *observer) Work() {
	for {
		e, missed, more := o.next()
		if missed {
			o.log.Error("Observe was not told of some milestones: it takes them too slowly", zap.Int("waiting", mostObserved))
		}
		if !more {
			return
		}
		o.tell(e)
	}
}

// next returns the next milestone, and whether some were dropped before it.
func (o *observer) next() (e messages.Event, missed, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	missed, o.missed = o.missed, false
	if len(o.waiting) == 0 {
		o.waiting, o.busy = nil, false
		if o.idle != nil {
			o.idle()
		}
		return e, missed, false
	}
	e, o.waiting = o.waiting[0], o.waiting[1:]
	return e, missed, true
}

func (o *observer) Crashed(crash *supervision.Crash) {
	o.log.Error("Observe crashed", zap.Error(crash), zap.ByteString("stack", crash.Stack))
	o.node.Call(o)
}

// drain waits at most d until Observe was told of everything.
func (o *observer) drain(d time.Duration) {
	told, idle := context.WithCancel(context.Background())
	o.mu.Lock()
	if o.idle = idle; !o.busy {
		idle()
	}
	o.mu.Unlock()
	supervision.Sleep(told, d)
}

// catchUp bounds one read: it merges deltas, and leaves what is more than a batch for the next read.
func catchUp(b batch) batch {
	var out []messages.Event
	rest := b.Events
	for len(rest) > 0 && len(out) < readBatch {
		n := messages.Stretch(rest)
		out = append(out, messages.Merge(rest[:n]))
		rest = rest[n:]
	}
	return batch{Batch: journal.Batch{Events: out, More: len(rest) > 0, Over: b.Over && len(rest) == 0}}
}

// size returns the encoded size of the events.
func size(events []messages.Event) int64 {
	var n int64
	for _, e := range events {
		n += int64(e.Size())
	}
	return n
}
