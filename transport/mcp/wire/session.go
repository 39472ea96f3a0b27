package wire

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/gate"
)

// Session is a client of the protocol with sessions. One that nothing is in flight for is this struct and no more.
type Session struct {
	requestTable // its lock is also that of what follows

	id          string
	principal   gate.Principal
	server      *Server
	initialized atomic.Bool
	touched     atomic.Int64 // when the last request began or ended, in nanoseconds

	view  view
	known client
	push  *push // its newest open stream: of a GET, or stdio
	asks  map[string]*ask
	asked uint64
	done  chan struct{}
}

// client is what a client said of itself when its session began, and since.
type client struct {
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
	level        mcp.LoggingLevel
}

func (s *Server) newSession(id string, principal gate.Principal) *Session {
	session := &Session{id: id, principal: principal, server: s, done: make(chan struct{})}
	session.view.session = session
	session.known.level = mcp.LoggingLevelInfo
	session.touch()
	return session
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Notify writes a notification that belongs to no request: on stdio as it is, over HTTP on the newest of the session's
// GET streams. It is dropped, with an error, where none is open, and blocks while the client reads too slowly.
func (s *Session) Notify(method string, params any) error {
	s.mu.Lock()
	to := s.push
	s.mu.Unlock()
	if to == nil {
		return errNoStream
	}
	f, err := callFrame("", method, params)
	if err != nil {
		return err
	}
	defer f.free()
	return to.send(f)
}

var errNoStream = errors.New("the client has no stream open that the notification could go on")

func (s *Session) touch() { s.touched.Store(time.Now().UnixNano()) }

func (s *Session) client() client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

// idle reports whether nothing has kept the session alive since then.
func (s *Session) idle(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) == 0 && s.push == nil && s.touched.Load() < since.UnixNano()
}

// begin has mcp-go know the session, for its broadcasts.
func (s *Session) begin(ctx context.Context) {
	_ = s.server.mcp.RegisterSession(ctx, &s.view)
	s.mu.Lock()
	ended := s.closed
	s.mu.Unlock()
	if ended {
		s.server.mcp.UnregisterSession(ctx, s.id)
	}
}

// end ends the session: its streams, and the contexts of its requests. It may be called more than once.
func (s *Session) end() {
	if s.requestTable.close(ErrDisconnected) {
		close(s.done)
		s.server.mcp.UnregisterSession(context.Background(), s.id)
	}
}

// cancel is the client's notifications/cancelled.
func (s *Session) cancel(params json.RawMessage) {
	var said struct {
		ID     json.RawMessage `json:"requestId"`
		Reason string          `json:"reason"`
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	if x := s.find(string(said.ID)); x != nil {
		x.stop(canceled(said.Reason))
	}
}

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
