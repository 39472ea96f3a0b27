package llm

import (
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// drains are the answers that are done and whose connections are made free. No consumer waits for them; the next call
// does, for it is to find the connection free. Each takes 50 ms at most.
type drains struct {
	mu      sync.Mutex
	running map[chan struct{}]bool
}

func (d *drains) begin(f func()) {
	ended := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		d.running = map[chan struct{}]bool{}
	}
	d.running[ended] = true
	go func() {
		defer d.end(ended)
		f()
	}()
}

func (d *drains) end(ended chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, ended)
	close(ended)
}

// wait waits for those that have begun.
func (d *drains) wait() {
	d.mu.Lock()
	all := slices.Collect(maps.Keys(d.running))
	d.mu.Unlock()
	for _, ended := range all {
		<-ended
	}
}

// drain reads what is left of a body, so that its connection can serve again.
func drain(body io.ReadCloser) {
	timer := time.AfterFunc(drainTime, func() { body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}
