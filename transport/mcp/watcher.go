package mcp

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// watcher is the goroutine that reads a run.
type watcher struct {
	state messages.State // when it began
	stop  context.CancelFunc
}

// attend has the run watched. Under mu.
func (h *hub) attend(run messages.State) {
	if run.Queued == nil || run.Status.IsEnded() || h.watchers[run.RunID] != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{run, stop}
	h.watchers[run.RunID] = w
	go h.watch(ctx, w, run.Seq)
}

// unattended stops the watchers that are left without anybody who subscribed to what their runs change, now that nobody
// does to the source. Under mu.
func (h *hub) unattended(from source) {
	for id, w := range h.watchers {
		mine := from.run == id || from.path != "" && from.owner == w.state.Queued.Principal
		if mine && len(h.interest[source{run: id}]) == 0 && h.readers[w.state.Queued.Principal] == 0 {
			h.retire(id, w)
		}
	}
}

// watch tells subscribers what the run's events change, until the terminal or until ctx is done. What cannot be read
// now, as with too many readers, is tried again.
func (h *hub) watch(ctx context.Context, w *watcher, after uint64) {
	id := w.state.RunID
	defer h.gone(id, w)
	for ctx.Err() == nil {
		var failed error
		for e, err := range h.server.runs.Events(ctx, id, after) {
			if failed = err; err != nil {
				break
			}
			after = e.Seq
			h.touch(w, e)
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
func (h *hub) touch(w *watcher, e messages.Event) {
	if e.IsDelta() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for t, subscribers := range h.interest[source{run: e.RunID}] {
		if t.changes(e) {
			markAll(subscribers, t)
		}
	}
	if written, ok := e.Body.(messages.ArtifactWritten); ok {
		h.wrote(w.state, written.Artifact)
	}
	if e.IsTerminal() {
		h.retire(w.state.RunID, w)
	}
}

func markAll(subscribers map[*subscriber]struct{}, t topic) {
	for sub := range subscribers {
		sub.mark(t)
	}
}

// retire stops the watcher of the run, if that is who watches it. Under mu.
func (h *hub) retire(id messages.RunID, w *watcher) {
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
