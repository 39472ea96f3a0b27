package llm

import (
	"context"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// watchdog ends a call whose server is silent for too long. Only the time spent waiting for the server counts: a
// consumer may take as long as it likes.
type watchdog struct {
	limits Limits
	end    context.CancelCauseFunc
	timer  *time.Timer

	mu      sync.Mutex
	stopped bool
	token   bool          // a first one has come
	silence time.Duration // of the waits since the last sign of life
	waiting bool
	since   time.Time // of this wait
}

func watch(limits Limits, end context.CancelCauseFunc) *watchdog {
	w := &watchdog{limits: limits, end: end}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limits.FirstToken, w.look)
	return w
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

// wait says that the server is to say something now.
func (w *watchdog) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.since = true, time.Now()
}

// waited says that a wait is over. Bytes of any kind are life until the first token has come.
func (w *watchdog) waited(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence += time.Since(w.since)
	w.waiting = false
	if bytes > 0 && !w.token {
		w.silence = 0
	}
}

// data says that a frame of the answer has come.
func (w *watchdog) data() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silence = 0
}

// first says that the first token has come.
func (w *watchdog) first() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.token, w.silence = true, 0
	w.timer.Reset(w.limits.Idle)
}

func (w *watchdog) limit() time.Duration {
	if w.token {
		return w.limits.Idle
	}
	return w.limits.FirstToken
}

// look ends the call or comes back when it may be time.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	silence := w.silence
	if w.waiting {
		silence += time.Since(w.since)
	}
	switch {
	case w.stopped:
	case silence < w.limit():
		w.timer.Reset(w.limit() - silence)
	case w.token:
		w.end(messages.Errorf(messages.Code(messages.CauseStalled), "the model said nothing more for %s", w.limit()))
	default:
		w.end(messages.Errorf(messages.Code(messages.CauseStalled), "the model said nothing for %s", w.limit()))
	}
}
