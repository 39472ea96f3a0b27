package tool

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// WithTimeout is context.WithTimeoutCause with a timeout that stands still while [Ask] waits for people. stop returns
// the rest of the limit.
func WithTimeout(ctx context.Context, limit time.Duration, late error) (timed context.Context, stop func() time.Duration) {
	outer, _ := ctx.Value(timeoutKey{}).(*timeout)
	inner, cancel := context.WithCancelCause(ctx)
	t := &timeout{outer: outer, left: limit, late: func() { cancel(late) }, pauses: 1}
	t.resume()
	return context.WithValue(inner, timeoutKey{}, t), func() time.Duration {
		t.pause()
		cancel(nil)
		return t.left
	}
}

// Ask asks people as [actors.TaskContext.Ask] does. The timeouts of ctx stand still meanwhile.
func Ask(ctx context.Context, task *actors.TaskContext, in messages.InputRequired) (json.RawMessage, error) {
	innermost, _ := ctx.Value(timeoutKey{}).(*timeout)
	for t := innermost; t != nil; t = t.outer {
		t.pause()
		defer t.resume()
	}
	return task.Ask(ctx, in)
}

// timeoutKey is the context key of the time that a call may take.
type timeoutKey struct{}

// timeout is a timer that can be paused, several times at once. mu guards the fields below it.
type timeout struct {
	outer *timeout
	late  func()

	mu     sync.Mutex
	pauses int // number of pauses that are not over
	left   time.Duration
	since  time.Time
	timer  *time.Timer
}

func (t *timeout) pause() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pauses++; t.pauses == 1 {
		t.timer.Stop()
		t.left -= time.Since(t.since)
	}
}

func (t *timeout) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pauses--; t.pauses == 0 {
		t.since, t.timer = time.Now(), time.AfterFunc(t.left, t.late)
	}
}
