package subscription

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// Started watches a run that was started just now, if somebody subscribed to files that it may write. It notifies of
// what the run has written by then: nothing else does.
func (h *Hub) Started(run messages.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if run.Queued == nil || h.files[run.Queued.Principal] == 0 {
		return
	}
	for _, a := range run.Artifacts {
		h.wrote(run, a)
	}
	h.watch(run)
}

// watch has the run read. Under mu.
func (h *Hub) watch(run messages.State) {
	if run.Queued == nil || run.Status.IsEnded() || h.watches[run.RunID] != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &watch{run, stop}
	h.watches[run.RunID] = w
	go h.read(ctx, w)
}

// unwatch stops reading the runs that nobody is left for, now that nobody subscribes to the source. Under mu.
func (h *Hub) unwatch(from source) {
	for id, w := range h.watches {
		owner := w.run.Queued.Principal
		concerned := from.run == id || from.path != "" && from.owner == owner
		if concerned && len(h.topics[source{run: id}]) == 0 && h.files[owner] == 0 {
			h.stop(w)
		}
	}
}

// read tells subscribers what the run's events change, until the terminal or until ctx is done. What cannot be read
// now, as with too many readers, is tried again.
func (h *Hub) read(ctx context.Context, w *watch) {
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.stop(w)
	}()
	id, after := w.run.RunID, w.run.Seq
	for ctx.Err() == nil {
		var failed error
		for e, err := range h.runs.Events(ctx, id, after) {
			if failed = err; err != nil {
				break
			}
			after = e.Seq
			h.took(w, e)
		}
		switch messages.CodeOf(failed) {
		case "":
			if failed == nil {
				return
			}
		case messages.CodeNotFound, messages.CodeEventsGone, messages.CodeReset:
			h.config.Log.Warn("a watched run cannot be read", zap.String("run", string(id)), zap.Error(failed))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(h.config.Retry):
		}
	}
}

// took marks what the event changes. With the terminal the watch is over: whoever subscribes later, with a State from
// before, starts another.
func (h *Hub) took(w *watch, e messages.Event) {
	if e.IsDelta() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for t := range h.topics[source{run: e.RunID}] {
		if t.changes(e) {
			h.mark(t)
		}
	}
	if written, ok := e.Body.(messages.ArtifactWritten); ok {
		h.wrote(w.run, written.Artifact)
	}
	if e.IsTerminal() {
		h.stop(w)
	}
}

// wrote marks the file that the run has written. Under mu.
func (h *Hub) wrote(run messages.State, artifact messages.Artifact) {
	if h.files[run.Queued.Principal] == 0 {
		return
	}
	for _, path := range h.pathsOf(run, artifact) {
		for t := range h.topics[source{owner: run.Queued.Principal, path: path}] {
			h.mark(t)
		}
	}
}

// stop ends the watch. Under mu.
func (h *Hub) stop(w *watch) {
	w.stop()
	if h.watches[w.run.RunID] == w {
		delete(h.watches, w.run.RunID)
	}
}
