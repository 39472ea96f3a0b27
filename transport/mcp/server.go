package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/question"
	"github.com/seed889630bf/lastword/transport/mcp/subscription"
	"github.com/seed889630bf/lastword/transport/mcp/task"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Vendor is the prefix of the names that are our own in _meta objects.
const Vendor = "io.github.seed889630bf.lastword/"

// Runs is the runtime as this door needs it. An actors.System is one.
type Runs interface {
	door.Runs
	// Jobs are what there is to know of the runtime's jobs.
	Jobs() []messages.JobInfo
}

// Config is what a Server is made of.
type Config struct {
	Runs Runs
	// Open reads artifacts; nil where runs write none. Errors: not_found where the file is gone, or is another than the
	// run wrote.
	Open func(ctx context.Context, run messages.State, artifact messages.Artifact) (io.ReadSeekCloser, error)
	// Name, Title and Version tell clients who serves; Instructions what for.
	Name, Title, Version, Instructions string
	// Redact returns what clients may read without the process's secrets; nil changes nothing. It may change its argument.
	Redact func(message []byte) []byte
	// Log is for operators; nil is silent.
	Log *zap.Logger
	// Key signs what clients carry for the server between two calls. Servers that share clients need the same one of at
	// least 32 bytes; nil is a random one.
	Key []byte
	// Heartbeat is the longest that a stream is silent: 15 s. Idle is how long a session without a request or an open
	// stream lives: 30 min.
	Heartbeat, Idle time.Duration
	// Poll is how often clients are told to ask for a task: 1 s. Retention is how long they are told that a task can be
	// asked for after it began: 24 h, as the runtime's.
	Poll, Retention time.Duration
}

// Server is the door. Tools, resources and prompts are added before it serves.
type Server struct {
	config Config
	runs   caller.Runs
	mcp    *server.MCPServer
	wire   *wire.Server
	jobs   map[string]*JobTool // by the tool's name
	// streams are by their names in event ids.
	streams map[string]stream
	asker   *question.Asker
	tasks   *task.Tasks
	hub     *subscription.Hub
	// readers has a place for each resource that may be read at a time.
	readers chan struct{}
}

// New returns a door to the runtime with the tools run_*, the artifacts as resources, and no job.
func New(config Config) *Server {
	config.Log = cmp.Or(config.Log, zap.NewNop())
	config.Poll, config.Retention = cmp.Or(config.Poll, time.Second), cmp.Or(config.Retention, 24*time.Hour)
	to := door.New(door.Config{Runs: config.Runs, Jobs: config.Runs.Jobs(), Open: config.Open, Heartbeat: config.Heartbeat,
		Redact: config.Redact})
	s := &Server{config: config, runs: caller.Runs{Door: to}, jobs: map[string]*JobTool{},
		readers: make(chan struct{}, readers)}
	s.asker = question.New(s.runs, config.Key)
	s.mcp = server.NewMCPServer(config.Name, config.Version, s.options()...)
	s.tasks = task.New(task.Config{Runs: s.runs, Asker: s.asker,
		Result: func(ctx context.Context, run messages.State) *mcp.CallToolResult { return s.Result(ctx, run).library() },
		Follow: func(ctx context.Context, id messages.RunID, at cursor.Cursor) (messages.State, error) {
			state, _, err := s.follow(ctx, streamTask, id, at)
			return state, err
		}, Poll: config.Poll, Retention: config.Retention})
	s.addStreams()
	s.hub = subscription.New(subscription.Config{Runs: s.runs, Tasks: s.tasks, Log: config.Log, Retry: config.Poll})
	s.hub.Add(subscription.Changes{Artifact: artifactOf})
	s.wire = wire.New(wire.Config{MCP: s.mcp, Info: s.implementation(), Methods: s.methods(), Log: config.Log,
		Resume: public(s.resume), Door: to, Idle: config.Idle})
	if err := errors.Join(s.addRunTools(), s.addResources()); err != nil {
		panic(err) // they are ours
	}
	s.addPrompts()
	return s
}

// Library is the server of the library behind the door, of the library's own type, for tests of the protocol that add
// what a door has no use for. Their handlers notify through wire.From(ctx), and scopes are theirs to check.
func (s *Server) Library() any { return s.mcp }

// ServeHTTP is the endpoint of streamable HTTP. Who calls is what package auth says of the request's context.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.wire.ServeHTTP(w, r) }

// Serve serves one client over stdio until in ends or ctx is done.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.wire.ServeStdio(ctx, in, out)
}

// Close ends every session and every open stream. The runs go on.
func (s *Server) Close() { s.wire.Close() }

// Changes say of resources beside run:// how they change with runs.
type Changes = subscription.Changes

// AddChanges notifies subscribers of the resources when runs change them, and drops from resources/list the artifacts
// whose File a later run has written.
func (s *Server) AddChanges(c Changes) { s.hub.Add(c) }

// Updated notifies the subscribers of a resource that it has changed. Files of Changes are for runs alone to change.
func (s *Server) Updated(uri string) { s.hub.Updated(uri) }

// options say what the mcp-go server offers. Tasks are not its own: what it has of them loses and leaks.
func (s *Server) options() []server.ServerOption {
	return []server.ServerOption{
		server.WithTitle(s.config.Title),
		server.WithInstructions(s.config.Instructions),
		server.WithToolCapabilities(true),
		server.WithPromptCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithExtensions(map[string]any{caller.TasksExtension: map[string]any{}}),
		server.WithHooks(s.hooks()),
	}
}
