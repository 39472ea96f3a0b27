package wire

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

var (
	errClosed = errors.New("the session has ended")
	errBusy   = errors.New("too many requests are in flight: wait for an answer")
	errTaken  = errors.New("a request with this id is in flight")
)

// requestTable holds the requests of one client that are in flight, by id as it came: 1 and "1" are two.
type requestTable struct {
	mu     sync.Mutex
	open   map[string]*Exchange
	closed bool
}

// add refuses with errClosed, errBusy or errTaken.
func (r *requestTable) add(key string, x *Exchange, limit int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return errClosed
	case limit > 0 && len(r.open) >= limit:
		return errBusy
	case r.open[key] != nil:
		return errTaken
	case r.open == nil:
		r.open = map[string]*Exchange{}
	}
	r.open[key] = x
	return nil
}

func (r *requestTable) remove(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, key)
}

func (r *requestTable) find(key string) *Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[key]
}

// close refuses requests from now on and stops those in flight. It reports whether it was the first call.
func (r *requestTable) close(cause error) bool {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	open := slices.Collect(maps.Values(r.open))
	r.mu.Unlock()
	for _, x := range open {
		x.stop(cause)
	}
	return first
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
