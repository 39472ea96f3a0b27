package door

import (
	"context"
	"errors"
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
	f := &following{reader: r, out: out, mu: out.lock(), every: d.Heartbeat, cancel: cancel}
	if snapshot := follow.Snapshot; snapshot != nil {
		follow.Snapshot = func(s messages.State) {
			_, _ = f.do(func() (bool, error) { snapshot(s); return s.Status.IsEnded(), nil }) // the next write fails too
		}
	}
	defer f.stop()
	opened := time.Now()
	if _, err := f.do(func() (bool, error) { return false, nil }); err != nil {
		return err
	}
	for batch, err := range d.Runs.Follow(ctx, id, follow) {
		done := false
		if err == nil {
			done, err = f.do(func() (bool, error) { return r.Events(batch) })
		}
		if err != nil {
			return f.refuse(ctx, err)
		}
		d.Late(batch, opened)
		if done {
			return nil
		}
	}
	if f.over {
		return nil
	}
	return f.refuse(ctx, messages.Errorf(messages.CodeUnavailable, "the run's events ended before the run"))
}

// following is one call of Follow.
type following struct {
	reader Reader
	out    Out
	mu     *sync.Mutex
	every  time.Duration
	cancel context.CancelCauseFunc
	beat   *time.Timer
	over   bool // the client has all that it gets
}

// do writes and flushes. Then the connection may be idle for the time of a heartbeat.
func (f *following) do(write func() (done bool, err error)) (done bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	done, err = write()
	f.over = done
	if flushed := f.out.Flush(); err == nil {
		err = flushed
	}
	if f.beat == nil {
		f.beat = time.AfterFunc(f.every, f.heartbeat)
	} else {
		f.beat.Reset(f.every)
	}
	return done, err
}

// heartbeat keeps proxies and clients from taking a silent run for a dead connection. None is written once the answer is
// over, not even by a beat that waited for the lock meanwhile: net/http panics where a handler has returned.
func (f *following) heartbeat() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	f.reader.Beat()
	if err := f.out.Flush(); err != nil {
		f.cancel(err)
		return
	}
	f.beat.Reset(f.every)
}

func (f *following) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	if f.beat != nil {
		f.beat.Stop()
	}
}

// refuse tells the client why there is nothing more, if it still reads.
func (f *following) refuse(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	if !errors.Is(err, context.Canceled) {
		f.reader.Refuse(err)
		_ = f.out.Flush() // the caller breaks the connection
	}
	return err
}

// UntilDrain returns a context that ends with ErrDraining when the server of the request stops. The caller must call
// stop at the end.
func (d *Door) UntilDrain(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	forget := d.onDrain(ctx, func() { cancel(ErrDraining) })
	return ctx, func() { forget(); cancel(nil) }
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
