package door

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Connection is what a run is written to: a [Stream], or [Frames] of a [Socket].
type Connection interface {
	// Flush sends what was written since the last Flush.
	Flush() error
	// lock returns the lock that [Heartbeats] hold while a Reader writes.
	lock() *sync.Mutex
}

// Out is Connection.
//
// Deprecated: Use [Connection].
type Out = Connection

// Reader writes the events of a run to one client. Its methods are called one at a time; the caller flushes after each.
type Reader interface {
	// Events writes a batch. done reports that the client has its whole answer.
	Events(batch []messages.Event) (done bool, err error)
	// Beat writes something that keeps an idle connection open.
	Beat()
	// Refuse writes why no more events follow. It is not called after the client has left.
	Refuse(err error)
}

// ErrDraining ends streams while the server stops. The client can reconnect with its cursor.
var ErrDraining = errors.New("the server is stopping")

// Follow passes the events of a run to the reader, with heartbeats in between. It returns nil after the run's terminal
// event or when the reader is done. After an error, the client does not have the terminal event; Follow has called
// r.Refuse unless the client has left. Errors: the runtime's errors, ErrDraining, and write errors.
func (d *Door) Follow(ctx context.Context, out Connection, id messages.RunID, follow messages.FollowOptions, r Reader) error {
	defer d.Enter()()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s, ok := out.(*Stream); ok && s.UntilDrain {
		defer d.onDrain(ctx, func() { cancel(ErrDraining) })()
	}
	h := d.Heartbeats(ctx, out, r.Beat, cancel)
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

// refuse tells the client why no more events follow, unless the client has left. It returns the cause of the failure.
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

// Heartbeats serializes the writes to one client, flushes after each, and writes a heartbeat when the connection was
// idle for a while. Otherwise proxies and clients would take a silent connection for a dead one.
//
// All fields but timer are set once; mu guards over and everything that is written to out.
type Heartbeats struct {
	out   Connection
	mu    *sync.Mutex
	beat  func()                  // writes one heartbeat
	lost  context.CancelCauseFunc // cancels the stream after a failed write
	every time.Duration           // the longest silence
	timer *time.Timer
	last  *time.Timer // says that the token expires soon; nil if it does not
	over  bool        // nothing more is written
}

// beforeExpiry is how long before the end of its token a client is told, so that it can get another one and go on.
const beforeExpiry = 30 * time.Second

// Heartbeats starts the heartbeats of out, for the request of ctx. beat writes one heartbeat. lost is called with the error if the client does
// not take a heartbeat. The caller must call Stop before its HTTP handler returns.
func (d *Door) Heartbeats(ctx context.Context, out Connection, beat func(), lost context.CancelCauseFunc) *Heartbeats {
	h := &Heartbeats{out: out, mu: out.lock(), beat: beat, lost: lost, every: d.Heartbeat}
	h.timer = time.AfterFunc(math.MaxInt64, h.heartbeat) // heartbeat reads h.timer
	h.timer.Reset(h.every)
	if when, ok := auth.Expires(ctx); ok {
		h.last = time.AfterFunc(time.Until(when)-beforeExpiry, func() { h.expires(when) })
	}
	return h
}

// expires tells the client when its token expires: by a comment, or by a heartbeat where there are no comments.
func (h *Heartbeats) expires(when time.Time) {
	_ = h.Do(func() (bool, error) { // whoever writes next notices an error
		if s, ok := h.out.(*Stream); ok && s.contentType == "text/event-stream" {
			_, _ = fmt.Fprintf(s, ": the token expires in %.0f s; get another one, and come back with the last id\n\n", time.Until(when).Seconds())
		} else {
			h.beat()
		}
		return false, nil
	})
}

// errOver is the error of Do after the answer has ended.
var errOver = errors.New("the answer is over")

// Do calls write and flushes, while no heartbeat can be written. If write reports done, or after Stop, later calls
// return an error and write nothing.
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

// Within makes the next heartbeat come within d, unless something is written earlier.
func (h *Heartbeats) Within(d time.Duration) { h.timer.Reset(min(d, h.every)) }

// heartbeat writes one heartbeat. It skips its turn while another write is under way, and writes nothing once the
// answer has ended: net/http panics on writes after the handler has returned.
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

// Stop ends the heartbeats. When it returns, nothing more will be written.
func (h *Heartbeats) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.timer.Stop()
	if h.last != nil {
		h.last.Stop()
	}
}

// onDrain calls f when the server that serves ctx's request stops, unless stop is called before. All streams of a
// server share one waiting goroutine.
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
