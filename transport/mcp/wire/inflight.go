package wire

import (
	"errors"
	"sync"
)

var (
	errClosed = errors.New("the session has ended")
	errBusy   = errors.New("too many requests are in flight: wait for an answer")
	errTaken  = errors.New("a request with this id is in flight")
)

// inflight are the requests of one client, by their ids as they came: 1 and "1" are two.
type inflight struct {
	mu     sync.Mutex
	open   map[string]*Exchange
	closed bool
}

// add refuses with errClosed, errBusy or errTaken.
func (g *inflight) add(key string, x *Exchange, limit int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return errClosed
	case limit > 0 && len(g.open) >= limit:
		return errBusy
	case g.open[key] != nil:
		return errTaken
	case g.open == nil:
		g.open = map[string]*Exchange{}
	}
	g.open[key] = x
	return nil
}

func (g *inflight) remove(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, key)
}

func (g *inflight) find(key string) *Exchange {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[key]
}

// close lets nothing in any more and stops what is in.
func (g *inflight) close(cause error) {
	g.mu.Lock()
	g.closed = true
	var open []*Exchange
	for _, x := range g.open {
		open = append(open, x)
	}
	g.mu.Unlock()
	for _, x := range open {
		x.stop(cause)
	}
}

// Hold counts the bytes of what will be a long answer, from now until it is written, which takes as long as its client
// likes. It reports whether there was room: all answers together may hold 16 times the longest message.
func (x *Exchange) Hold(bytes int64) bool {
	s := x.server
	if s.answers.Add(bytes) > longest*s.config.Message {
		s.answers.Add(-bytes)
		return false
	}
	x.held.Add(bytes)
	return true
}

func (x *Exchange) unhold() { x.server.answers.Add(-x.held.Swap(0)) }
