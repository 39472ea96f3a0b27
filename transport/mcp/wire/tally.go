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
	none   chan struct{} // closed when there is none; nil while nobody waits
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
	if t.n--; t.n == 0 && t.none != nil {
		close(t.none)
		t.none = nil
	}
}

func (t *tally) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// wait waits at most that long until none runs.
func (t *tally) wait(limit time.Duration) {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return
	}
	if t.none == nil {
		t.none = make(chan struct{})
	}
	none := t.none
	t.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}
