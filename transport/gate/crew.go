package gate

import (
	"context"
	"sync"
)

// crew counts handlers. Unlike a sync.WaitGroup it may be entered while it is waited for.
type crew struct {
	mu      sync.Mutex
	n       int
	waiting chan struct{} // closed when n is 0 again; nil if nobody waits
}

func (c *crew) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.waiting != nil {
		close(c.waiting)
		c.waiting = nil
	}
}

// wait returns when nobody is there, or ctx is done.
func (c *crew) wait(ctx context.Context) {
	select {
	case <-c.empty():
	case <-ctx.Done():
	}
}

func (c *crew) empty() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = make(chan struct{})
	}
	ch := c.waiting
	if c.n == 0 {
		close(ch)
		c.waiting = nil
	}
	return ch
}
