package wire

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// pushed is how many broadcasts of mcp-go wait for a client that reads slowly.
const pushed = 32

// push is a session's open stream for what belongs to no request.
type push struct {
	broadcasts chan mcp.JSONRPCNotification
	write      func(f *frame) error

	mu     sync.Mutex // held while something is written
	closed bool
}

func newPush(write func(*frame) error) *push {
	return &push{broadcasts: make(chan mcp.JSONRPCNotification, pushed), write: write}
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

// attach makes the stream the session's, unless it has one or has ended.
func (s *Session) attach(p *push) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.push != nil || s.closed {
		return false
	}
	s.push = p
	return true
}

func (s *Session) detach() {
	s.mu.Lock()
	s.push = nil
	s.mu.Unlock()
	s.touch()
}
