package wire

import (
	"sync"
	"time"
)

// tally counts what runs, which may go on beginning while somebody waits for the end.
type tally struct {
	mu     sync.Mutex
	n      int
	closed bool
	empty  chan struct{} // closed when there is none; nil while nobody waits
}

// enter reports whether one more may run, of at most limit unless that is 0.
func (t *tally) enter(limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || limit > 0 && t.n >= limit {
		return false
	}
	t.n++
	return true
}

func (t *tally) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
}

func (t *tally) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// none returns what is closed when none runs.
func (t *tally) none() <-chan struct{} {
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

// wait waits at most that long until none runs.
func (t *tally) wait(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.none():
	case <-timer.C:
	}
}
