package actors

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed889630bf/lastword/messages"
)

// board is what readers see of an active run. Its one writer is the run's log; readers share no lock with it: what is
// published never changes, and what changes is replaced.
type view struct {
	id messages.RunID
	// base is the number before the first that is shown here: the journal has what is up to it.
	base uint64
	// shown is the table that readers read: the first n of its events.
	shown atomic.Pointer[table]
	// durable is the number of the last event that the journal is known to have.
	durable atomic.Uint64
	// gone says that the live log was dropped: the journal has what there is.
	liveDropped atomic.Bool
	// trouble says why the journal does not take the run's events, while it does not.
	trouble atomic.Pointer[messages.Error]
	// final is the State at the terminal, once that is visible.
	final atomic.Pointer[messages.State]
	// over is closed when the terminal is visible, the log was dropped, or trouble has come.
	over   atomic.Pointer[chan struct{}]
	wakers atomic.Pointer[[]chan struct{}]

	mu      sync.Mutex // among readers
	readers int
	fold    *messages.Fold // of what is visible, for those who ask for the State
}

// table holds events. The writer appends behind n, and then moves n.
type table struct {
	n      atomic.Int64
	events []messages.Event
	wires  []messages.Wire // of the events that were recorded into this table
}

func newTable(room int) *table {
	if room == firstEvents { // most runs have no other
		var first struct {
			table
			events [firstEvents]messages.Event
			wires  [firstEvents]messages.Wire
		}
		t := &first
		t.table.events, t.table.wires = t.events[:], t.wires[:]
		return &t.table
	}
	return &table{events: make([]messages.Event, room), wires: make([]messages.Wire, room)}
}

func (b *view) visible() []messages.Event {
	t := b.shown.Load()
	if t == nil {
		return nil
	}
	n := t.n.Load()
	return t.events[:n:n]
}

// batch is what one read of a log gave.
type batch struct {
	events []messages.Event
	// more says that there is more already, and over that there will be no more.
	more, over bool
	// gone says that the log was dropped.
	dropped bool
}

// readBatch is how many events one read returns; a reader that is further behind is given merged deltas.
const readBatch = 256

// read returns what is visible past the cursor, merged where the reader is far behind. The events are shared: they must
// not be changed.
func (b *view) read(after uint64) (batch, error) {
	if b.liveDropped.Load() {
		return batch{dropped: true}, nil
	}
	trouble := b.trouble.Load()
	durable := b.durable.Load()
	shown := b.visible()
	got := batch{events: shown[firstAfter(shown, after):]}
	if n := len(shown); n > 0 && shown[n-1].IsTerminal() {
		if after > shown[n-1].Seq {
			return batch{}, errReset(b.id, after)
		}
		got.over = true
	} else if after > durable+messages.Reserve {
		return batch{}, errReset(b.id, after)
	}
	switch {
	case len(got.events) > readBatch:
		return catchUp(got), nil
	case len(got.events) == 0 && !got.over && trouble != nil:
		return got, trouble
	}
	return got, nil
}

func errReset(id messages.RunID, after uint64) error {
	return messages.Errorf(messages.CodeReset, "run %s has no event %d: drop the state and begin at 0", id, after)
}

// state returns what the visible events add up to. Only readers pay for it, and each event is folded once for all.
func (b *view) state() messages.State {
	if final := b.final.Load(); final != nil {
		return *final
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fold == nil {
		b.fold = &messages.Fold{}
	}
	shown := b.visible()
	for _, e := range shown[firstAfter(shown, b.fold.Look().Seq):] {
		_ = b.fold.Apply(e) // the ledger has judged it
	}
	return b.fold.State()
}

// enter counts a reader in, whose wake is rung when more is visible. The run's readers are bounded.
func (b *view) enter(limit int, wake chan struct{}) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers >= limit {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"run %s has %d readers already; close one or raise the limit", b.id, limit)
	}
	b.readers++
	b.setBells(append(slices.Clip(b.hung()), wake))
	return nil
}

func (b *view) leave(wake chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers--
	b.setBells(slices.DeleteFunc(slices.Clone(b.hung()), func(c chan struct{}) bool { return c == wake }))
}

func (b *view) hung() []chan struct{} {
	if p := b.wakers.Load(); p != nil {
		return *p
	}
	return nil
}

func (b *view) setBells(wakers []chan struct{}) { b.wakers.Store(&wakers) }

// ring wakes every reader. Each has a wake of its own, which makes it cheap to wake: on one channel for all they would
// stand in each other's way.
func (b *view) notify() {
	for _, wake := range b.hung() {
		notify(wake)
	}
}

// ring is heard once, however often it is rung before.
func notify(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// atEnd returns a channel that is closed once the terminal is visible, the log was dropped, or the journal takes no more.
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

// end closes what atEnd returns.
func (b *view) end() {
	if p := b.over.Swap(&closed); p != nil && *p != closed {
		close(*p)
	}
}
