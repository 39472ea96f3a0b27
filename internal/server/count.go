package server

import (
	"context"
	"sync"
)

// Count counts operations in flight. Unlike with a sync.WaitGroup, more may begin while somebody waits. The zero value
// is ready to use. It is safe for concurrent use; mu guards all fields.
type Count struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when n falls to 0; nil while nobody waits
}

// Begin counts one more operation and returns true. It returns false if the count is closed or has reached the limit; a
// limit of 0 means none. After true the caller must call End.
func (c *Count) Begin(limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || limit > 0 && c.n >= limit {
		return false
	}
	c.n++
	return true
}

// End counts one operation less.
func (c *Count) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// Close makes Begin return false from now on.
func (c *Count) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// Idle returns a channel that is closed once nothing is in flight.
func (c *Count) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	if c.n == 0 {
		close(idle)
		c.idle = nil
	}
	return idle
}

// Wait returns when nothing is in flight, or ctx is done.
func (c *Count) Wait(ctx context.Context) {
	select {
	case <-c.Idle():
	case <-ctx.Done():
	}
}
