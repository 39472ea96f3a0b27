package wire

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"
)

// Method answers requests of one JSON-RPC method in place of the mcp-go server. An *Error is the error that the client
// gets; any other error is an internal one whose text the client is not told. A result that is an object gets, for
// clients of 2026-07-28 and later, what every result must have: a resultType, "complete" where it has none, and the
// server's name in its _meta.
type Method func(ctx context.Context, x *Exchange) (result any, err error)

// Config is what a Server is made of. Zero durations and bounds take the defaults.
type Config struct {
	MCP *server.MCPServer
	// Info is the server's name in the results of Methods. MCP has its own for its results; they should be the same.
	Info mcp.Implementation
	// Methods are answered here instead of by MCP, for example tasks/get.
	Methods map[string]Method
	// Redact gives a message without what no client is to read, in whatever form; nil gives it as it is. It is called by
	// many goroutines.
	Redact func(message []byte) []byte
	// Log is told what operators want to know; nil is silent.
	Log *zap.Logger
	// KeepAlive is the longest that an open stream is silent: 15 s.
	KeepAlive time.Duration
	// Idle is how long a session without a request or an open stream lives: 30 min.
	Idle time.Duration
	// Stall is how long a client over HTTP may take nothing of what is written to it before it counts as gone: 30 s.
	Stall time.Duration
	// Sessions bounds the sessions: 10,000. Idle ones make room for new ones. Requests bounds the requests that one
	// session, or stdio, has in flight: 1,000.
	Sessions, Requests int
	// Message is the most bytes of a message that comes: 16 MiB. Over HTTP those longer than 64 KiB that are not answered
	// yet have 16 times that together; until then more are refused.
	Message int64
}

// Server is both transports.
type Server struct {
	config                Config
	mcp                   *server.MCPServer
	log                   *zap.Logger
	info                  []byte // Config.Info as JSON; nil where it has no name
	sessions              sessionTable
	modern                requestTable // the requests over HTTP that have no session
	held                  atomic.Int64 // bytes of the long messages over HTTP that are not answered
	answers               atomic.Int64 // bytes of the long answers that are not written
	requests, connections atomic.Uint64
}

// New returns a Server for the configuration.
func New(config Config) *Server {
	config = config.withDefaults()
	s := &Server{config: config, mcp: config.MCP, log: config.Log}
	s.sessions.limit, s.sessions.idle = config.Sessions, config.Idle
	if config.Info.Name != "" {
		s.info, _ = json.Marshal(config.Info)
	}
	return s
}

// Close ends every session and every open stream; what is in flight is told that its client is gone. Who calls later is
// refused. The runs go on.
func (s *Server) Close() {
	s.modern.close(ErrDisconnected)
	for _, session := range s.sessions.close() {
		session.end()
	}
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	c.KeepAlive = orDefault(c.KeepAlive, 15*time.Second)
	c.Idle = orDefault(c.Idle, 30*time.Minute)
	c.Stall = orDefault(c.Stall, 30*time.Second)
	c.Sessions = orDefault(c.Sessions, 10_000)
	c.Requests = orDefault(c.Requests, 1_000)
	c.Message = orDefault(c.Message, 16<<20)
	return c
}

func orDefault[T int | int64 | time.Duration](given, otherwise T) T {
	if given > 0 {
		return given
	}
	return otherwise
}
