package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// Method handles requests of one JSON-RPC method in place of the mcp-go server. The client gets an *Error as it is. For
// other errors it gets an internal error without the text. From 2026-07-28 on, a result that is an object gets the
// members that every result must have: resultType (by default "complete"), and the server's name in _meta.
type Method func(ctx context.Context, x *Exchange) (result any, err error)

// Config configures a Server. Durations and limits that are zero take the defaults.
type Config struct {
	MCP *server.MCPServer
	// Info is the server's name in the results of Methods. It should be the same as in MCP.
	Info mcp.Implementation
	// Methods handle their requests in place of MCP, for example tasks/get.
	Methods map[string]Method
	// Tool returns the tool with this name if it is another server's and HTTP headers repeat some of its arguments; otherwise nil.
	Tool func(name string) *mcp.Tool
	// Resume continues a request whose stream broke, at its [Exchange.Place]. It is used for versions with sessions;
	// nil means that no request can be resumed.
	Resume Method
	// Ended is called when a client cancels a request that is not in progress in this process, or ends its session. mark is
	// [Session.Mark] of the request, or of the session.
	Ended func(ctx context.Context, mark string, cause error)
	// Keys seal the ids of sessions; nil means a random key, so that sessions end with the process. Rows keep what changes
	// of them; without functions they are in memory. Restored is called when the client of a restored session listens
	// again, with the resources that it subscribed to.
	Keys     seal.Keys
	Rows     seal.Rows
	Restored func(ctx context.Context, session *Session, uris []string)
	// Door writes the streams; nil means one with defaults.
	Door *door.Door
	// Log is for operators; nil discards.
	Log *zap.Logger
	// Idle is how long a session without requests and open streams stays in memory; default 30 min.
	Idle time.Duration
	// Sessions is the maximum number of sessions in memory; default 10,000. Idle ones make room for new ones. Requests is the
	// maximum number of requests in flight per session, or on stdio; default 1,000.
	Sessions, Requests int
	// Message is the maximum size of a received message in bytes; default 16 MiB.
	Message int64
}

// Server serves MCP over both transports. It is safe for concurrent use.
type Server struct {
	config                Config
	mcp                   *server.MCPServer
	log                   *zap.Logger
	info                  []byte // Config.Info as JSON; nil without a name
	epoch                 string // differs from other processes'
	sessions              sessionTable
	modern                requestTable // HTTP requests without a session
	answerBytes           atomic.Int64 // bytes of long answers that are not yet written
	requests, connections atomic.Uint64
}

// New returns a Server with the configuration.
func New(config Config) *Server {
	config.Log, config.Door = cmp.Or(config.Log, zap.NewNop()), cmp.Or(config.Door, door.New(door.Config{}))
	config.Idle = cmp.Or(config.Idle, 30*time.Minute)
	config.Sessions, config.Requests = cmp.Or(config.Sessions, 10_000), cmp.Or(config.Requests, 1_000)
	config.Message = cmp.Or(config.Message, 16<<20)
	config.Keys, config.Rows = seal.New(config.Keys), seal.NewRows(config.Rows)
	s := &Server{config: config, mcp: config.MCP, log: config.Log, epoch: rand.Text()[:8]}
	s.sessions.limit, s.sessions.idle = config.Sessions, config.Idle
	if config.Info.Name != "" {
		s.info, _ = json.Marshal(config.Info)
	}
	return s
}

// Close ends all sessions and streams. Requests in flight end with ErrDisconnected, later ones are refused. Runs
// continue.
func (s *Server) Close() {
	s.modern.close(ErrDisconnected)
	s.sessions.close()
}

// Causes (see context.Cause) with which the context of an exchange ends.
var (
	// ErrCanceled means that the client cancelled the request, either by notifications/cancelled or, over HTTP from
	// 2026-07-28 on, by closing the stream, which matches ErrDisconnected too. Match it with errors.Is: the text ends
	// with the client's reason.
	ErrCanceled = errors.New("the client cancelled the request")
	// ErrDisconnected means that the client has disconnected. Up to 2025-11-25 this does not cancel a request.
	ErrDisconnected = errors.New("the client disconnected")
)

// errStreamClosed matches both: over HTTP from 2026-07-28 on, clients cancel a request by closing its stream.
var errStreamClosed = fmt.Errorf("%w: %w", ErrCanceled, ErrDisconnected)

// errEnded means that the exchange has been answered.
var errEnded = errors.New("the request was answered already")

// Error is a JSON-RPC error. With a Scope, the response over HTTP has status 403 and names the scope in
// WWW-Authenticate.
type Error = jsonrpc.RPCError

// Error codes that JSON-RPC leaves to the server, as the official SDKs use them.
const (
	codeBusy    = -32000
	codeSession = -32001
)

func errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func internalError() *Error {
	return &Error{Code: mcp.INTERNAL_ERROR, Message: "internal error"}
}
