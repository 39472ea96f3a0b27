package source

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	lib "github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// Session is a session with a server of mcp-go in this process.
type Session struct {
	*lib.InProcessSession
	over chan struct{}
}

// Host answers what a server asks. A nil member is not answered.
type Host struct {
	Sampling    lib.SamplingHandler
	Elicitation lib.ElicitationHandler
	Roots       lib.RootsHandler
}

// NewSession returns a session. told gets what the server says, in order and as a client reads it, until Close.
func NewSession(id string, h Host, notify func(mcp.JSONRPCNotification)) *Session {
	s := &Session{lib.NewInProcessSessionWithHandlers(id, h.Sampling, h.Elicitation, h.Roots), make(chan struct{})}
	go s.tell(notify)
	return s
}

// flushed is the field of a notification of Flush.
const flushed = "\x00flushed"

func (s *Session) tell(notify func(mcp.JSONRPCNotification)) {
	for {
		select {
		case <-s.over:
			return
		case n := <-s.ClientNotifications():
			var plain mcp.JSONRPCNotification
			if done, ok := n.Params.AdditionalFields[flushed].(chan struct{}); ok {
				close(done)
			} else if text, err := json.Marshal(n); err == nil && json.Unmarshal(text, &plain) == nil {
				notify(plain)
			}
		}
	}
}

// Flush returns when all that the server has said before is told.
func (s *Session) Flush() {
	done := make(chan struct{})
	var n mcp.JSONRPCNotification
	n.Params.AdditionalFields = map[string]any{flushed: done}
	select {
	case s.NotificationChannel() <- n:
	case <-s.over:
		return
	}
	select {
	case <-done:
	case <-s.over:
	}
}

// Close ends the session. It is called once.
func (s *Session) Close() { close(s.over) }

// local is a link to a server of mcp-go in this process.
type local struct {
	*Session
	server *lib.MCPServer
	log    *zap.Logger
	told   atomic.Pointer[func(mcp.JSONRPCNotification)]
}

// host answers what the client has declared that the server may ask.
func (c *connection) host() (h Host) {
	if c.server.asks.Sampling != nil {
		h.Sampling = c
	}
	if c.server.asks.Elicitation != nil {
		h.Elicitation = c
	}
	if c.server.asks.Roots != nil {
		h.Roots = c
	}
	return h
}

// newLocal returns a link to the connection's server.
func newLocal(c *connection) *local {
	l := &local{server: c.server.Local, log: c.server.log}
	l.Session = NewSession(l.server.GenerateInProcessSessionID(), c.host(), func(n mcp.JSONRPCNotification) {
		if notify := l.told.Load(); notify != nil {
			(*notify)(n)
		}
	})
	return l
}

func (l *local) Start(ctx context.Context) error { return l.server.RegisterSession(ctx, l.Session) }

// SendRequest sends a request. A crash of the handler is an error.
func (l *local) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (answer *transport.JSONRPCResponse, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			l.log.Error("a handler crashed", zap.Any("value", crash), zap.Stack("stack"))
			answer, err = nil, messages.Errorf(messages.CausePanic, "its handler crashed: %v", crash)
		}
	}()
	answer, err = checked(ctx, r, l.handle)
	l.Flush()
	keep(ctx, answer)
	return answer, err
}

func (l *local) handle(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if text, err = json.Marshal(l.server.HandleMessage(l.server.WithContext(ctx, l.Session), text)); err != nil {
		return nil, err
	}
	answer := new(transport.JSONRPCResponse)
	return answer, json.Unmarshal(text, answer)
}

func (l *local) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	text, err := json.Marshal(n)
	if err == nil {
		l.server.HandleMessage(l.server.WithContext(ctx, l.Session), text)
	}
	return err
}

func (l *local) SetNotificationHandler(notify func(mcp.JSONRPCNotification)) { l.told.Store(&notify) }

// SetRequestHandler does nothing: the session calls the connection itself.
func (*local) SetRequestHandler(transport.RequestHandler) {}

func (*local) GetSessionId() string { return "" }

func (l *local) Close() error {
	l.server.UnregisterSession(context.Background(), l.SessionID())
	l.Session.Close()
	return nil
}

func (*local) lost() bool { return false }
