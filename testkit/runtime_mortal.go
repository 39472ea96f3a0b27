package testkit

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// fate is what happens to a node at one of its appends.
type fate string

const (
	dies   fate = "dies before" // the block does not land
	deaf   fate = "dies after"  // the block lands, but the node never learns it
	sleeps fate = "sleeps at"   // for a minute; then the node continues
	whole  fate = "lives through"
)

// mortal is a node's journal until its fate strikes at an append. From then on nothing of the node gets through.
type mortal struct {
	actors.Journal
	fate   fate
	at     int
	life   context.Context // ends when the fate strikes
	strike func()          // makes the fate strike
	awake  chan struct{}   // closed when the node wakes

	mu    sync.Mutex
	n     int
	keeps []journal.ClaimState // what the node said about its claims after it woke
}

// mortal returns a journal that dies at an append. It may sleep instead: then its node goes on a minute later.
func (w *world) mortal(f fate, pos int) *mortal {
	m := &mortal{Journal: w.journal, fate: f, at: pos, awake: make(chan struct{})}
	life, end := context.WithCancel(context.Background())
	m.life, m.strike = life, sync.OnceFunc(func() {
		end()
		if f == sleeps {
			time.AfterFunc(time.Minute, func() { close(m.awake) })
		}
	})
	w.Cleanup(func() {
		if m.strike(); f == sleeps {
			<-m.awake
		}
	})
	return m
}

func (m *mortal) alive() bool { return m.life.Err() == nil }

// wait blocks the calls of a dead or sleeping node. It returns an error unless the call may continue.
func (m *mortal) wait(ctx context.Context) error {
	if m.alive() {
		return nil
	}
	select {
	case <-m.awake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Append implements [journal.Journal].
func (m *mortal) Append(b journal.Block, done func(error)) {
	m.mu.Lock()
	m.n++
	now := m.n == m.at
	m.mu.Unlock()
	if now {
		if m.fate == deaf {
			m.Journal.Append(b, func(error) {})
		}
		m.strike()
	}
	if m.alive() {
		m.Journal.Append(b, func(err error) {
			if m.wait(m.asleep()) == nil {
				done(err)
			}
		})
		return
	}
	if m.fate == sleeps {
		go func() { <-m.awake; m.Journal.Append(b, done) }()
	}
}

// asleep returns a context that is done at once if the node is dead.
func (m *mortal) asleep() context.Context {
	if m.fate == sleeps {
		return context.Background()
	}
	return m.life
}

// Read implements [journal.Reader].
func (m *mortal) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if err := m.wait(ctx); err != nil {
		return journal.Page{}, err
	}
	return m.Journal.Read(ctx, run, after)
}

// Claim implements [journal.Journal].
func (m *mortal) Claim(ctx context.Context, node string) (c journal.Claim, err error) {
	err = m.long(ctx, func(ctx context.Context) error {
		c, err = m.Journal.Claim(ctx, node)
		return err
	})
	return c, err
}

// Watch implements [journal.Reader].
func (m *mortal) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	return m.long(ctx, func(ctx context.Context) error { return m.Journal.Watch(ctx, self, fn) })
}

// long makes a call that waits. The fate interrupts it, and a node that wakes repeats it.
func (m *mortal) long(ctx context.Context, call func(context.Context) error) error {
	for {
		if err := m.wait(ctx); err != nil {
			return err
		}
		cut, cancel := context.WithCancel(ctx)
		if m.alive() {
			defer context.AfterFunc(m.life, cancel)()
		}
		err := call(cut)
		if cancel(); err == nil || ctx.Err() != nil || m.alive() {
			return err
		}
	}
}

// Keep implements [journal.Journal].
func (m *mortal) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	select {
	case <-m.awake:
		m.mu.Lock()
		m.keeps = append(m.keeps, k)
		m.mu.Unlock()
	default:
	}
	if err := m.wait(ctx); err != nil {
		return err
	}
	return m.Journal.Keep(ctx, c, k)
}

// Send implements [journal.Journal].
func (m *mortal) Send(ctx context.Context, c journal.Command) error {
	if err := m.wait(ctx); err != nil {
		return err
	}
	return m.Journal.Send(ctx, c)
}

// Expire implements [journal.Journal].
func (m *mortal) Expire(ctx context.Context, before time.Time, bytes int64) (int, error) {
	if err := m.wait(ctx); err != nil {
		return 0, err
	}
	return m.Journal.Expire(ctx, before, bytes)
}
