package door

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Out is where a run is written: a [Stream], or [Frames] of a Socket.
type Out interface {
	// Flush sends what was written.
	Flush() error
	// lock is held while a Reader writes.
	lock() *sync.Mutex
}

// Reader writes the events of a run. Its methods are called one at a time, and what they write is flushed.
type Reader interface {
	// Events writes a batch, and reports whether the client has all that it is to get.
	Events(batch []messages.Event) (done bool, err error)
	// Beat writes what keeps an idle connection open.
	Beat()
	// Refuse writes why there is nothing more. It is not called for a client that has left.
	Refuse(err error)
}

// ErrDraining is why the streams of a server end that stops, where the client can come back.
var ErrDraining = errors.New("the server is stopping")

// Follow gives the reader the events of a run that the caller may read, with heartbeats, until the run's terminal or
// until the reader is done. After an error the client lacks the terminal, and the reader has refused.
func (d *Door) Follow(ctx context.Context, out Out, id messages.RunID, follow messages.Follow, r Reader) error {
	defer d.Enter()()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s, ok := out.(*Stream); ok && s.UntilDrain {
		defer d.onDrain(ctx, func() { cancel(ErrDraining) })()
	}
	h := d.Heartbeats(out, r.Beat, cancel)
	defer h.Stop()
	if snapshot := follow.Snapshot; snapshot != nil {
		follow.Snapshot = func(s messages.State) {
			_ = h.Do(func() (bool, error) { snapshot(s); return s.Status.IsEnded(), nil }) // the next write fails too
		}
	}
	opened := time.Now()
	if err := h.Do(func() (bool, error) { return false, nil }); err != nil {
		return err
	}
	for batch, err := range d.Runs.Follow(ctx, id, follow) {
		if err == nil {
			err = h.Do(func() (bool, error) { return r.Events(batch) })
		}
		if err != nil {
			return refuse(ctx, h, r, err)
		}
		d.Late(batch, opened)
		if h.over {
			return nil
		}
	}
	if h.over {
		return nil
	}
	return refuse(ctx, h, r, messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run"))
}

// refuse tells the client why there is nothing more, if it still reads.
func refuse(ctx context.Context, h *Heartbeats, r Reader, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	_ = h.Do(func() (bool, error) { // the caller breaks the connection
		if !errors.Is(err, context.Canceled) {
			r.Refuse(err)
		}
		return true, nil
	})
	return err
}

// Heartbeats have one writer at a time write to a client, flush what it wrote, and write heartbeats, which keep proxies and
// clients from taking a silent answer for a dead connection.
type Heartbeats struct {
	out   Out
	mu    *sync.Mutex
	beat  func()
	lost  context.CancelCauseFunc
	every time.Duration
	timer *time.Timer
	over  bool // nothing more is written
}

// Heartbeats calls beat, which writes, where nothing was written for the time of a heartbeat, and lost where the client does
// not take that. The caller must call Stop before it leaves the answer.
func (d *Door) Heartbeats(out Out, beat func(), lost context.CancelCauseFunc) *Heartbeats {
	h := &Heartbeats{out: out, mu: out.lock(), beat: beat, lost: lost, every: d.Heartbeat}
	h.timer = time.AfterFunc(math.MaxInt64, h.heartbeat) // which reads timer
	h.timer.Reset(h.every)
	return h
}

// errOver means that the answer is over.
var errOver = errors.New("the answer is over")

// Do writes and flushes. done says that the client has all that it is to get: after that and after Stop, Do returns an
// error and does not write.
func (h *Heartbeats) Do(write func() (done bool, err error)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return errOver
	}
	done, err := write()
	h.over = done
	if flushed := h.out.Flush(); err == nil {
		err = flushed
	}
	h.timer.Reset(h.every)
	return err
}

// Within has the next heartbeat come in that time, if nothing is written before.
func (h *Heartbeats) Within(d time.Duration) { h.timer.Reset(min(d, h.every)) }

// heartbeat writes none while somebody else writes, and none once the answer is over: net/http panics where a handler
// has returned.
func (h *Heartbeats) heartbeat() {
	if !h.mu.TryLock() {
		h.timer.Reset(h.every)
		return
	}
	defer h.mu.Unlock()
	if h.over {
		return
	}
	h.beat()
	if err := h.out.Flush(); err != nil {
		h.lost(err)
		return
	}
	h.timer.Reset(h.every)
}

// Stop ends the heartbeats. Nothing is written after it returns.
func (h *Heartbeats) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.timer.Stop()
}

// onDrain calls f when the server of the request stops, unless the returned function is called before. One goroutine
// waits for all streams of a server.
func (d *Door) onDrain(ctx context.Context, f func()) (stop func() bool) {
	draining := auth.Draining(ctx)
	if draining == nil {
		return func() bool { return true }
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.draining == nil || d.drained != draining {
		stopping, cancel := context.WithCancel(context.Background())
		d.draining, d.drained = stopping, draining
		go func() {
			defer cancel()
			<-draining
		}()
	}
	return context.AfterFunc(d.draining, f)
}
