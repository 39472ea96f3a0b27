package llm

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// watchdog enforces the timeouts FirstToken and Idle. It counts only the time spent waiting for the server; the
// consumer may take as long as it likes. It is safe for concurrent use; mu guards the fields below it.
type watchdog struct {
	idle  time.Duration           // the timeout after the first token
	end   context.CancelCauseFunc // cancels the attempt with a timeout
	timer *time.Timer

	mu      sync.Mutex
	stopped bool
	limit   time.Duration // how long a silence may last now
	token   bool          // the first token has arrived
	silence time.Duration // duration of the silence before the current wait
	waiting bool          // the client waits for the server now
	since   time.Time     // start of the current wait
}

// watch starts a watchdog that calls end after a timeout.
func watch(limits Limits, end context.CancelCauseFunc) *watchdog {
	w := &watchdog{idle: limits.Idle, limit: limits.FirstToken, end: end}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.limit, w.check)
	return w
}

// stop ends the watch. The timer may have fired already.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

// wait begins a wait for the server.
func (w *watchdog) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.since = true, time.Now()
}

// waited ends a wait. Before the first token, any bytes end the silence.
func (w *watchdog) waited(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence += time.Since(w.since)
	w.waiting = false
	if bytes > 0 && !w.token {
		w.silence = 0
	}
}

// data records a frame of the answer, which ends the silence.
func (w *watchdog) data() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence = 0
}

// first records the first token.
func (w *watchdog) first() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.token, w.silence, w.limit = true, 0, w.idle
	w.timer.Reset(w.limit)
}

// check ends the call if the timeout has passed. Otherwise it sets the timer again.
func (w *watchdog) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	silence := w.silence
	if w.waiting {
		silence += time.Since(w.since)
	}
	switch {
	case w.stopped:
	case silence < w.limit:
		w.timer.Reset(w.limit - silence)
	case w.token:
		w.end(messages.Errorf(messages.CauseStalled, "the model sent nothing more for %s", w.limit))
	default:
		w.end(messages.Errorf(messages.CauseStalled, "the model sent nothing for %s", w.limit))
	}
}
