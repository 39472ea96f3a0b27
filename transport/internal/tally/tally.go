package tally

import (
	"context"
	"sync"
)

// Tally counts what runs. Unlike with a sync.WaitGroup more may begin while it is waited for. The zero value is ready.
type Tally struct {
	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // closed when there is none; nil while nobody waits
}

// Enter reports whether one more may run, of at most limit unless that is 0. Who was let in has to Leave.
func (t *Tally) Enter(limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || limit > 0 && t.n >= limit {
		return false
	}
	t.n++
	return true
}

// Leave counts one less.
func (t *Tally) Leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
}

// Close lets nobody in any more.
func (t *Tally) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// None returns what is closed when none runs.
func (t *Tally) None() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.empty == nil {
		t.empty = make(chan struct{})
	}
	empty := t.empty
	if t.n == 0 {
		close(empty)
		t.empty = nil
	}
	return empty
}

// Wait returns when none runs, or ctx is done.
func (t *Tally) Wait(ctx context.Context) {
	select {
	case <-t.None():
	case <-ctx.Done():
	}
}
