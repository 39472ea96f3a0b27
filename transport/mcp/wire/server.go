package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/transport/door"
)

// Method answers requests of one JSON-RPC method instead of the mcp-go server. The client gets an *Error as it is;
// for any other error it gets an internal error without the text. From 2026-07-28 on an object gets what every result
// must have: a resultType, by default "complete", and the server's name in _meta.
type Method func(ctx context.Context, x *Exchange) (result any, err error)

// Config configures a Server. Zero durations and limits take the defaults.
type Config struct {
	MCP *server.MCPServer
	// Info is the server's name in the results of Methods. It should equal the name that MCP has.
	Info mcp.Implementation
	// Methods answer their requests instead of MCP, for example tasks/get.
	Methods map[string]Method
	// Resume goes on with a request of a version with sessions whose stream broke, from its [Exchange.Place]; nil if
	// none can.
	Resume Method
	// Door writes the streams; nil is one with its defaults.
	Door *door.Door
	// Log is for operators; nil discards.
	Log *zap.Logger
	// Idle is the timeout of a session without requests and open streams: 30 min.
	Idle time.Duration
	// Sessions is the maximum number of sessions: 10,000. Idle ones make room for new ones. Requests is the maximum
	// number of requests in flight of one session or of stdio: 1,000.
	Sessions, Requests int
	// Message is the maximum number of bytes of a received message: 16 MiB.
	Message int64
}

// Server serves both transports.
type Server struct {
	config                Config
	mcp                   *server.MCPServer
	log                   *zap.Logger
	info                  []byte // Config.Info as JSON; nil without a name
	sessions              sessionTable
	modern                requestTable // HTTP requests without a session
	answerBytes           atomic.Int64 // of long answers that are not written
	requests, connections atomic.Uint64
}

// New returns a Server for the configuration.
func New(config Config) *Server {
	config.Log, config.Door = cmp.Or(config.Log, zap.NewNop()), cmp.Or(config.Door, door.New(door.Config{}))
	config.Idle = cmp.Or(config.Idle, 30*time.Minute)
	config.Sessions, config.Requests = cmp.Or(config.Sessions, 10_000), cmp.Or(config.Requests, 1_000)
	config.Message = cmp.Or(config.Message, 16<<20)
	s := &Server{config: config, mcp: config.MCP, log: config.Log}
	s.sessions.limit, s.sessions.idle = config.Sessions, config.Idle
	if config.Info.Name != "" {
		s.info, _ = json.Marshal(config.Info)
	}
	return s
}

// Close ends all sessions and streams. Requests in flight end with ErrDisconnected, later ones are refused. Runs go
// on.
func (s *Server) Close() {
	s.modern.close(ErrDisconnected)
	s.sessions.close()
}
