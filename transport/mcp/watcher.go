package mcp

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// watcher is the goroutine that reads a run.
type watcher struct{ stop context.CancelFunc }

// watch tells subscribers what the run's events change, until the terminal or until ctx is done. What cannot be read
// now, as with too many readers, is tried again.
func (h *hub) watch(ctx context.Context, w *watcher, id messages.RunID, after uint64) {
	defer h.gone(id, w)
	for ctx.Err() == nil {
		var failed error
		for e, err := range h.server.config.Runs.Events(ctx, id, after) {
			if failed = err; err != nil {
				break
			}
			after = e.Seq
			h.touch(id, e)
		}
		switch messages.CodeOf(failed) {
		case "":
			if failed == nil {
				return
			}
		case messages.CodeNotFound, messages.CodeEventsGone, messages.CodeReset:
			h.server.config.Log.Warn("a watched run cannot be read", zap.String("run", string(id)), zap.Error(failed))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(h.server.config.Poll):
		}
	}
}

// touch marks what the event changes. With the terminal the run's watcher is gone: whoever subscribes later, with a
// State from before, starts another.
func (h *hub) touch(id messages.RunID, e messages.Event) {
	if e.IsDelta() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for t, subscribers := range h.interest[id] {
		if !t.changes(e) {
			continue
		}
		for sub := range subscribers {
			sub.mark(t)
		}
	}
	if e.IsTerminal() {
		h.retire(id, h.watchers[id])
	}
}

// retire stops the watcher of the run, if that is who watches it. Under mu.
func (h *hub) retire(id messages.RunID, w *watcher) {
	if w == nil {
		return
	}
	w.stop()
	if h.watchers[id] == w {
		delete(h.watchers, id)
	}
}

// gone is retire for the watcher itself.
func (h *hub) gone(id messages.RunID, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retire(id, w)
}
