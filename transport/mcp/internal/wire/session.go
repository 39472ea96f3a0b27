package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// Session is the state of one client, for protocol versions with sessions. An idle session costs no more than this
// struct.
type Session struct {
	requestTable // its lock guards the fields below, too

	id          string // its name in the table and in the store; clients get it sealed
	principal   auth.Principal
	server      *Server
	stdio       bool // nothing of it is stored
	initialized atomic.Bool
	timer       *time.Timer  // looks whether the session is idle; the session table's lock guards it
	saving      sync.Mutex   // held while the session's row is changed
	used        atomic.Int64 // when its row, or its id, last said that it is in use, in seconds since 1970
	learned     atomic.Int64 // when its row was last read, in nanoseconds

	known     client
	asleep    []string         // the resources that it subscribed to before it was restored
	streams   []*sessionStream // open streams, the newest last: of GETs, or stdio
	questions map[string]*question
	asked     uint64             // number of questions so far
	life      context.Context    // ends with the session
	over      context.CancelFunc // cancels life
}

// client is what a client has declared, when its session began or later.
type client struct {
	capabilities mcp.ClientCapabilities
	version      string
	level        mcp.LoggingLevel
}

// newSession returns a session that is not yet in the table.
func (s *Server) newSession(id string, principal auth.Principal) *Session {
	session := &Session{id: id, principal: principal, server: s}
	session.life, session.over = context.WithCancel(context.Background())
	session.known.level = mcp.LoggingLevelInfo
	session.touch()
	return session
}

// Life returns a context that ends with the session.
func (s *Session) Life() context.Context { return s.life }

// Notify writes a notification that belongs to no request. Over HTTP it goes to the session's newest GET stream. It
// returns an error if no stream is open. It blocks while the client reads too slowly.
func (s *Session) Notify(method string, params any) error {
	s.mu.Lock()
	if len(s.streams) == 0 {
		s.mu.Unlock()
		return errNoStream
	}
	to := s.streams[len(s.streams)-1]
	s.mu.Unlock()
	message, err := encode(jsonrpc.RPCMessage{Method: method, Params: params})
	if err != nil {
		return err
	}
	return to.write(message)
}

// Broadcast notifies the clients of all sessions that have a stream open. It does not wait for them.
func (s *Server) Broadcast(method string) {
	for _, session := range s.sessions.all() {
		if session.initialized.Load() { // a client on stdio may not be initialized yet
			go func() { _ = session.Notify(method, nil) }()
		}
	}
}

// errNoStream means that a notification cannot reach the client now.
var errNoStream = errors.New("the client has no stream open for the notification")

func (s *Session) client() client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

// idle reports whether the session has been unused since the given time.
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
func (s *Session) cancel(ctx context.Context, params json.RawMessage) {
	var decoded struct {
		ID     json.RawMessage `json:"requestId"`
		Reason string          `json:"reason"`
	}
	if json.Unmarshal(params, &decoded) != nil {
		return
	}
	cause := ErrCanceled
	if decoded.Reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCanceled, words.Clip(decoded.Reason, 200))
	}
	if x := s.find(string(decoded.ID)); x != nil {
		x.stop(cause)
	} else {
		s.ended(ctx, decoded.ID, cause)
	}
}

// ended tells the runs of a request that is not in progress here, or without one the runs of the session, that nobody waits for them.
func (s *Session) ended(ctx context.Context, request json.RawMessage, cause error) {
	if s.server.config.Ended != nil && !s.stdio {
		s.server.config.Ended(ctx, s.Mark(request), cause)
	}
}

// Mark names a request of the session, or without one the session itself, for any process that hears of its end. It is "" where
// no other process can hear of it.
func (s *Session) Mark(request json.RawMessage) string {
	if s == nil || s.stdio {
		return ""
	}
	return messages.Digest(s.id + string(request))[:16]
}

// maxStreams is the maximum number of open streams of a session.
const maxStreams = 4

// sessionStream is an open stream for messages that belong to no request.
type sessionStream struct {
	write func(message []byte) error
	leave func() // makes the stream end soon
}

// attach makes p the stream that the session writes to. It returns false if the session has ended. Older streams stay
// open and silent, for two reasons: a client that lost its network left one behind and needs the new one, and a client
// that still reads the old one would open it again. If there are too many streams, the oldest ends.
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

// detach removes a stream, so that the session writes to the newest of the others.
func (s *Session) detach(p *sessionStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touch()
	s.streams = slices.DeleteFunc(s.streams, func(o *sessionStream) bool { return o == p })
}

// clientSession implements mcp-go's ClientSession: what the client declared, and how to ask it. Its notification
// channel is nil, because mcp-go drops and misroutes notifications there. Handlers call [Exchange.Notify] instead.
type clientSession struct{ x *Exchange }

func (v clientSession) SessionID() string { return v.x.name }

func (v clientSession) Initialize() {
	if s := v.x.session; s != nil {
		s.initialized.Store(true)
	}
}

func (v clientSession) Initialized() bool {
	return v.x.session == nil || v.x.session.initialized.Load()
}

func (v clientSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

func (v clientSession) GetLogLevel() mcp.LoggingLevel {
	if s := v.x.session; s != nil {
		return s.client().level
	}
	return mcp.LoggingLevelInfo
}

func (v clientSession) SetLogLevel(level mcp.LoggingLevel) {
	v.update(func(c *client) { c.level = level })
	if s := v.x.session; s != nil {
		if err := s.change(context.Background(), func(r *row) { r.Level = level }); err != nil {
			s.server.log.Warn("the level of a session is not stored", zap.Error(err))
		}
	}
}

func (v clientSession) GetClientInfo() mcp.Implementation { return mcp.Implementation{} }

func (v clientSession) SetClientInfo(mcp.Implementation) {} // never read

func (v clientSession) GetClientCapabilities() mcp.ClientCapabilities { return v.x.Capabilities() }

func (v clientSession) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	v.update(func(c *client) { c.capabilities = capabilities })
}

func (v clientSession) ProtocolVersion() string { return v.x.Version() }

// SetProtocolVersion is called only by initialize.
func (v clientSession) SetProtocolVersion(version string) {
	v.update(func(c *client) { c.version = version })
}

// update changes what is known of the client. Requests without a session keep nothing.
func (v clientSession) update(f func(c *client)) {
	if s := v.x.session; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		f(&s.known)
	}
}

func (v clientSession) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	return &result, v.x.Ask(ctx, mcp.MethodElicitationCreate, r.Params, &result)
}

// RequestSampling has the client ask its model. JSON leaves the content as a map, so it is parsed by itself.
func (v clientSession) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	var result mcp.CreateMessageResult
	if err := v.x.Ask(ctx, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, &result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	result.Content = content
	return &result, err
}

var _ server.SessionWithClientInfo = clientSession{}
