package wire

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Session is a client with a session. An idle one costs no more than this struct.
type Session struct {
	requestTable // its lock guards the fields below, too

	id          string
	principal   auth.Principal
	server      *Server
	initialized atomic.Bool
	touched     atomic.Int64 // when the last request began or ended, in nanoseconds

	view      view
	known     client
	stream    *sessionStream // the newest open one: of a GET, or stdio
	questions map[string]*question
	asked     uint64
	done      chan struct{}
}

// client is what a client declared when its session began, and since.
type client struct {
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	version      string
	level        mcp.LoggingLevel
}

func (s *Server) newSession(id string, principal auth.Principal) *Session {
	session := &Session{id: id, principal: principal, server: s, done: make(chan struct{})}
	session.view.session = session
	session.known.level = mcp.LoggingLevelInfo
	session.touch()
	return session
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Notify writes a notification that belongs to no request: over HTTP to the newest of the session's GET streams. It
// returns an error if none is open. It blocks while the client reads too slowly.
func (s *Session) Notify(method string, params any) error {
	s.mu.Lock()
	to := s.stream
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

var errNoStream = errors.New("the client has no stream open for the notification")

func (s *Session) touch() { s.touched.Store(time.Now().UnixNano()) }

func (s *Session) client() client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

// idle reports whether the session has been unused since then.
func (s *Session) idle(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) == 0 && s.stream == nil && s.touched.Load() < since.UnixNano()
}

// begin registers the session with mcp-go, for broadcasts.
func (s *Session) begin(ctx context.Context) {
	_ = s.server.mcp.RegisterSession(ctx, &s.view)
	s.mu.Lock()
	ended := s.closed
	s.mu.Unlock()
	if ended {
		s.server.mcp.UnregisterSession(ctx, s.id)
	}
}

// end ends the session with its streams and requests. It may be called more than once.
func (s *Session) end() {
	if s.requestTable.close(ErrDisconnected) {
		close(s.done)
		s.server.mcp.UnregisterSession(context.Background(), s.id)
	}
}

// cancel handles notifications/cancelled.
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
	// queuedBroadcasts is how many broadcasts of mcp-go wait for a slow client.
	queuedBroadcasts = 32
	// maxStreams is how many streams a session may have open.
	maxStreams = 4
)

// sessionStream is a session's open stream for messages that belong to no request.
type sessionStream struct {
	broadcasts chan mcp.JSONRPCNotification
	write      func(f *frame) error
	leave      func() // ends the stream soon

	older *sessionStream // the stream opened before, if open; under the session's lock

	mu     sync.Mutex // held while something is written
	closed bool
}

func newSessionStream(leave func(), write func(*frame) error) *sessionStream {
	return &sessionStream{broadcasts: make(chan mcp.JSONRPCNotification, queuedBroadcasts), leave: leave, write: write}
}

func (p *sessionStream) send(f *frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errNoStream
	}
	return p.write(f)
}

// forward writes a broadcast of mcp-go.
func (p *sessionStream) forward(n mcp.JSONRPCNotification) error {
	f, err := callFrame("", n.Method, paramsOf(n))
	if err != nil {
		return nil // it is not JSON: no client can read it
	}
	defer f.free()
	return p.send(f)
}

func (p *sessionStream) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// attach makes the stream the one that the session writes to, unless the session has ended. Older streams stay open
// and silent. A client that lost its network has left one behind and needs the new one; a client that still reads the
// old one would reopen it if it ended. If there are too many, the oldest ends.
func (s *Session) attach(p *sessionStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	p.older, s.stream = s.stream, p
	last := p
	for range maxStreams - 1 {
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

// detach makes the session write to the newest of the other streams.
func (s *Session) detach(p *sessionStream) {
	defer s.touch()
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := &s.stream; *at != nil; at = &(*at).older {
		if *at == p {
			*at = p.older
			return
		}
	}
}
