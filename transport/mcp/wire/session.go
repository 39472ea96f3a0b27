package wire

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

	known     client
	streams   []*sessionStream // the open ones, the newest last: of GETs, or stdio
	questions map[string]*question
	asked     uint64
	life      context.Context
	over      context.CancelFunc // ends life
}

// client is what a client declared when its session began, and since.
type client struct {
	capabilities mcp.ClientCapabilities
	version      string
	level        mcp.LoggingLevel
}

func (s *Server) newSession(id string, principal auth.Principal) *Session {
	session := &Session{id: id, principal: principal, server: s}
	session.life, session.over = context.WithCancel(context.Background())
	session.known.level = mcp.LoggingLevelInfo
	session.touch()
	return session
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Life ends with the session.
func (s *Session) Life() context.Context { return s.life }

// Notify writes a notification that belongs to no request: over HTTP to the newest of the session's GET streams. It
// returns an error if none is open. It blocks while the client reads too slowly.
func (s *Session) Notify(method string, params any) error {
	s.mu.Lock()
	if len(s.streams) == 0 {
		s.mu.Unlock()
		return errNoStream
	}
	to := s.streams[len(s.streams)-1]
	s.mu.Unlock()
	message, err := encode(outgoing{Method: method, Params: params})
	if err != nil {
		return err
	}
	return to.write(message)
}

// Broadcast tells the clients of all sessions that have a stream open. It does not wait for them.
func (s *Server) Broadcast(method string) {
	for _, session := range s.sessions.all() {
		if session.initialized.Load() { // on stdio there is one that need not be
			go func() { _ = session.Notify(method, nil) }()
		}
	}
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
	return len(s.open)+len(s.streams) == 0 && s.touched.Load() < since.UnixNano()
}

// end ends the session with its streams and requests. It may be called more than once.
func (s *Session) end() {
	s.requestTable.close(ErrDisconnected)
	s.over()
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

// maxStreams is how many streams a session may have open.
const maxStreams = 4

// sessionStream is a session's open stream for messages that belong to no request.
type sessionStream struct {
	write func(message []byte) error
	leave func() // ends the stream soon
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
	if s.streams = append(s.streams, p); len(s.streams) > maxStreams {
		s.streams[0].leave()
		s.streams = s.streams[1:]
	}
	return true
}

// detach makes the session write to the newest of the other streams.
func (s *Session) detach(p *sessionStream) {
	defer s.touch()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(o *sessionStream) bool { return o == p })
}
