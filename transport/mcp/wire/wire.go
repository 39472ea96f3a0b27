package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"
)

// Method answers requests of one JSON-RPC method in place of the mcp-go server. An *Error is the error that the client
// gets; any other error is an internal one whose text the client is not told.
type Method func(ctx context.Context, x *Exchange) (result any, err error)

// Config is what a Server is made of. Zero durations and bounds take the defaults.
type Config struct {
	MCP *server.MCPServer
	// Methods are answered here instead of by MCP, for example tasks/get.
	Methods map[string]Method
	// Log is told what operators want to know; nil is silent.
	Log *zap.Logger
	// KeepAlive is the longest that an open stream is silent: 15 s.
	KeepAlive time.Duration
	// Idle is how long a session without a request or an open stream lives: 30 min.
	Idle time.Duration
	// Sessions bounds the sessions: 10,000. Requests bounds the requests that one session, or stdio, has in flight: 1,000.
	Sessions, Requests int
	// Message is the most bytes of a message that comes: 16 MiB.
	Message int64
}

// Server is both transports.
type Server struct{}

// New returns a Server for the configuration.
func New(Config) *Server { panic("not built") }

// ServeHTTP is the endpoint of streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { panic("not built") }

// ServeStdio serves one client, a message a line, until in ends or ctx is done. What is in flight then is told that its
// client is gone. It returns nil when in ended.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	panic("not built")
}

// Close ends every session and every open stream.
func (s *Server) Close() { panic("not built") }

// Causes of the end of an exchange's context, for context.Cause.
var (
	// ErrCanceled: the client cancelled the request (notifications/cancelled; over HTTP from 2026-07-28 also by closing
	// the stream). errors.Is; the error's text ends in the client's reason.
	ErrCanceled = errors.New("the client cancelled the request")
	// ErrDisconnected: the client is gone, which up to 2025-11-25 says nothing about what it wants.
	ErrDisconnected = errors.New("the client disconnected")
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    any
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Exchange is one request that is being answered. Its methods may be called from any goroutine.
type Exchange struct{}

// From returns the exchange of a handler's context. Every context that a handler or a Method is given has one.
func From(ctx context.Context) *Exchange { panic("not built") }

// ID is the request's JSON-RPC id as it came.
func (x *Exchange) ID() json.RawMessage { panic("not built") }

// Params are the request's parameters as they came.
func (x *Exchange) Params() json.RawMessage { panic("not built") }

// Modern reports whether the request is of the protocol without sessions, 2026-07-28 or later.
func (x *Exchange) Modern() bool { panic("not built") }

// Version is the protocol's version: the request's own, else the session's; "" where neither said.
func (x *Exchange) Version() string { panic("not built") }

// Extension reports whether the client declared the extension: in this request, else when its session began.
func (x *Exchange) Extension(name string) bool { panic("not built") }

// Elicits reports whether the client can ask its user.
func (x *Exchange) Elicits() bool { panic("not built") }

// ProgressToken is the token of the request's _meta as it came, or nil.
func (x *Exchange) ProgressToken() json.RawMessage { panic("not built") }

// Session is the session that the request came in: one per process on stdio; nil where the protocol has none.
func (x *Exchange) Session() *Session { panic("not built") }

// Notify writes a notification on the request's own stream, in order, before the result; it blocks while the client
// reads too slowly. It returns an error once the exchange has its result or the client is gone, and writes nothing then.
func (x *Exchange) Notify(method string, params any) error { panic("not built") }

// Reply sets the result that the client gets in place of what the mcp-go handler returns.
func (x *Exchange) Reply(result any) { panic("not built") }

// Fail sets the JSON-RPC error that the client gets in place of what the mcp-go handler returns.
func (x *Exchange) Fail(e *Error) { panic("not built") }

// Follow has f run after the result is written, with Notify writing behind it on the same stream until f returns: the
// one way to say something after a result, for clients that asked for it in so many words. ctx is done when the client
// cancels the request's id or is gone.
func (x *Exchange) Follow(f func(ctx context.Context, notify func(method string, params any) error)) {
	panic("not built")
}

// Session is a client of the protocol with sessions.
type Session struct{}

// ID names the session.
func (s *Session) ID() string { panic("not built") }

// Notify writes a notification that belongs to no request: on stdio as it is, over HTTP on the session's GET stream. It
// is dropped, with an error, where no stream is open, and blocks while the client reads too slowly.
func (s *Session) Notify(method string, params any) error { panic("not built") }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { panic("not built") }
