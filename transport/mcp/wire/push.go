package wire

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// pushed is how many broadcasts of mcp-go wait for a client that reads slowly.
	pushed = 32
	// pushes is the most streams that a session has open.
	pushes = 4
)

// push is a session's open stream for what belongs to no request.
type push struct {
	broadcasts chan mcp.JSONRPCNotification
	write      func(f *frame) error
	leave      func() // has the stream end soon

	older *push // opened before this one and still open; under the session's lock

	mu     sync.Mutex // held while something is written
	closed bool
}

func newPush(leave func(), write func(*frame) error) *push {
	return &push{broadcasts: make(chan mcp.JSONRPCNotification, pushed), leave: leave, write: write}
}

func (p *push) send(f *frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errNoStream
	}
	return p.write(f)
}

// forward writes a broadcast of mcp-go.
func (p *push) forward(n mcp.JSONRPCNotification) error {
	f, err := callFrame("", n.Method, paramsOf(n))
	if err != nil {
		return nil // what is no JSON can be told to nobody
	}
	defer f.free()
	return p.send(f)
}

func (p *push) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// attach has what is sent to the session go on the stream from now on, unless the session has ended. The streams before
// it stay open, silent: a client that lost its network has left one behind, which takes minutes to be found out, and
// needs the new one; a client that still reads the old one would open another for each that is ended. Only of too many
// the oldest is ended.
func (s *Session) attach(p *push) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	p.older, s.push = s.push, p
	last := p
	for range pushes - 1 {
		if last.older == nil {
			return true
		}
		last = last.older
	}
	if last.older != nil {
		last.older.leave()
		last.older = nil
	}
	return true
}

// detach has what is sent to the session go on the newest of the other streams.
func (s *Session) detach(p *push) {
	defer s.touch()
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := &s.push; *at != nil; at = &(*at).older {
		if *at == p {
			*at = p.older
			return
		}
	}
}
