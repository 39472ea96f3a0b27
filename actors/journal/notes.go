package journal

import (
	"context"
	"slices"
	"sync"
)

// mostNotes is how many notes may wait for a slow Watch. After more, one empty note replaces them; it means "look at
// every run".
const mostNotes = 1024

// Notes passes notes to watchers without waiting for them. The zero Notes is ready for use. It is safe for concurrent
// use.
type Notes[N comparable] struct {
	mu       sync.Mutex
	watchers []*watcher[N]
}

// watcher is one call of Watch, with the notes that it has not passed on.
type watcher[N comparable] struct {
	self  string
	wake  chan struct{}
	notes []N
}

// Watch calls fn in the caller's goroutine until ctx is done: first with the empty note, and then with every note
// that others than self leave.
func (n *Notes[N]) Watch(ctx context.Context, self string, fn func(N)) error {
	w := &watcher[N]{self: self, wake: make(chan struct{}, 1)}
	n.mu.Lock()
	n.watchers = append(n.watchers, w)
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.watchers = slices.DeleteFunc(n.watchers, func(x *watcher[N]) bool { return x == w })
	}()
	var empty N
	fn(empty)
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		n.mu.Lock()
		notes := w.notes
		w.notes = nil
		n.mu.Unlock()
		for _, note := range notes {
			fn(note)
		}
	}
}

// Tell leaves a note for all watchers except the writer. It skips a watcher whose last waiting note is the same. If
// the writer is "", nobody is excepted.
func (n *Notes[N]) Tell(writer string, note N) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.watchers {
		if w.self == writer && writer != "" || len(w.notes) > 0 && w.notes[len(w.notes)-1] == note {
			continue
		}
		if len(w.notes) == mostNotes {
			w.notes = append(w.notes[:0:0], *new(N))
		}
		w.notes = append(w.notes, note)
		notify(w.wake)
	}
}
