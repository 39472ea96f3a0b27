package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/subscription"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// vendor is the prefix of lastword's own names in _meta objects.
const vendor = "io.github.seed889630bf.lastword/"

// Runs is the runtime as this package needs it. *actors.System implements it.
type Runs interface {
	door.Runs
	// Jobs returns descriptions of the runtime's jobs.
	Jobs() []messages.JobInfo
}

// Config configures a Server. Only Runs is required.
type Config struct {
	Runs Runs
	// Open opens an artifact for reading; nil means that runs write none. Errors: not_found if the file no longer exists, or if
	// its content is no longer what the run wrote.
	Open func(ctx context.Context, run messages.State, artifact messages.Artifact) (io.ReadSeekCloser, error)
	// Name, Title and Version identify the server to clients. Instructions says what it is for.
	Name, Title, Version, Instructions string
	// People and AgentsConfirm are the fields of [door.Config].
	People        func() string
	AgentsConfirm bool
	// Redact removes the process's secrets from an outgoing message, possibly in place; nil changes nothing.
	Redact func(message []byte) []byte
	// Log is for operators; nil discards.
	Log *zap.Logger
	// Keys seal what clients keep: ids of sessions, and states of calls. Servers with the same clients need the same
	// keys; nil means a random key. Sessions keep what changes of sessions; without functions that ends with the process.
	Keys     seal.Keys
	Sessions seal.Rows
	// Heartbeat is the longest time that a stream is silent; 0 means 15 s. Idle is how long a session without requests
	// and open streams stays in memory; 0 means 30 min.
	Heartbeat, Idle time.Duration
	// Wrap, if not nil, says which other servers' tools, resources and prompts to offer.
	Wrap *Wrap
	// Poll is the interval at which clients should ask for a task; 0 means 1 s. Retention is how long after its start
	// clients may ask for a task; 0 means 24 h, as in the runtime.
	Poll, Retention time.Duration
}

// Server serves MCP clients. Tools, resources and prompts must be added before it serves. After that it is safe for
// concurrent use.
type Server struct {
	config Config
	runs   wire.Runs
	mcp    *server.MCPServer
	wire   *wire.Server
	jobs   map[string]*JobTool // by the tool's name
	// streams holds the kinds of streams by the names that event ids contain.
	streams map[string]stream
	behind  *behind         // nil without servers behind
	local   *source.Gateway // nil but for Serve
	asker   *task.Asker
	tasks   *task.Tasks
	hub     *subscription.Hub
	// readers is a semaphore for reading resources.
	readers chan struct{}
	// templates holds the templates of resources.
	templates sync.Map
}

// New returns a Server with the tools run_* and the artifacts as resources, but without jobs.
func New(config Config) *Server {
	config.Log = cmp.Or(config.Log, zap.NewNop())
	config.Poll, config.Retention = cmp.Or(config.Poll, time.Second), cmp.Or(config.Retention, 24*time.Hour)
	to := door.New(door.Config{Runs: config.Runs, Jobs: config.Runs.Jobs(), Open: config.Open, Heartbeat: config.Heartbeat,
		Redact: config.Redact, People: config.People, AgentsConfirm: config.AgentsConfirm})
	s := &Server{config: config, runs: wire.Runs{Door: to}, jobs: map[string]*JobTool{}, readers: make(chan struct{}, readers)}
	config.Keys = seal.New(config.Keys)
	s.asker = task.NewAsker(s.runs, config.Keys)
	s.mcp = server.NewMCPServer(config.Name, config.Version, s.options()...)
	s.tasks = task.New(task.Config{Runs: s.runs, Asker: s.asker,
		Fault: func(ctx context.Context, run messages.State) *wire.Error { return s.behind.refusal(ctx, run) },
		Result: func(ctx context.Context, run messages.State) *mcp.CallToolResult {
			if r := s.behind.result(run); r != nil {
				return r
			}
			return s.Result(ctx, run).library()
		},
		Follow: func(ctx context.Context, id messages.RunID, cur cursor.Cursor) (messages.State, error) {
			state, _, err := s.follow(ctx, streamTask, id, cur)
			return state, err
		}, Poll: config.Poll, Retention: config.Retention})
	if config.Wrap != nil {
		s.behind = newBehind(s, *config.Wrap)
	}
	s.addStreams()
	s.hub = subscription.New(subscription.Config{Runs: s.runs, Task: s.tasks.News, LegacyTask: s.tasks.Legacy, Log: config.Log, Retry: config.Poll})
	s.hub.Add(subscription.Changes{Artifact: artifactOf})
	s.wire = wire.New(wire.Config{MCP: s.mcp, Info: mcp.Implementation{Name: config.Name, Title: config.Title, Version: config.Version},
		Methods: s.methods(), Tool: s.behind.headedTool, Log: config.Log, Resume: public(s.resume), Ended: s.ended, Door: to, Idle: config.Idle,
		Keys: config.Keys, Rows: config.Sessions, Restored: s.hub.Restore})
	if err := errors.Join(s.addRunTools(), s.addResources()); err != nil {
		panic(err) // these are constants
	}
	s.addPrompts()
	return s
}

// Library returns the mcp-go server, as its own type. It is for protocol tests that add their own handlers. These must
// notify through [RequestOf] and check scopes themselves.
func (s *Server) Library() any { return s.mcp }

// Request is a client's request in progress. Fault is the JSON-RPC error that Request.Fail answers with.
type (
	Request = wire.Exchange
	Fault   = wire.Error
)

// RequestOf returns the request of a handler's context. It is nil for notifications.
func RequestOf(ctx context.Context) *Request { return wire.From(ctx) }

// ServeHTTP serves streamable HTTP. Package auth must have put the caller into the request's context.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.wire.ServeHTTP(w, r) }

// Serve serves one client over stdio until in ends or ctx is done.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.wire.ServeStdio(ctx, in, out)
}

// Close ends all sessions and open streams. Runs continue.
func (s *Server) Close() {
	s.wire.Close()
	if s.local != nil {
		s.local.Close()
	}
}

// Changes say how runs change resources other than run://.
type Changes = subscription.Changes

// AddChanges makes runs notify the subscribers of these resources. It also removes from resources/list those artifacts
// whose file a later run has overwritten.
func (s *Server) AddChanges(c Changes) { s.hub.Add(c) }

// Updated notifies the subscribers of a resource that it has changed. It does not apply to files of [Changes], which
// only runs change.
func (s *Server) Updated(uri string) { s.hub.Updated(uri) }

// ownAll reports whether the server offers all of its own.
func (s *Server) ownAll() bool { return s.config.Wrap == nil || !s.config.Wrap.Alone }

// ownList is for how many milliseconds clients may keep the list of this server's own tools.
const ownList = 300_000

// options returns the options of the mcp-go server. They do not include its own tasks, which lose messages and leak
// memory.
func (s *Server) options() []server.ServerOption {
	extensions := map[string]any{wire.TasksExtension: map[string]any{}}
	if s.ownAll() {
		extensions[skillsExtension] = map[string]any{}
	}
	options := []server.ServerOption{
		server.WithTitle(s.config.Title),
		server.WithInstructions(s.config.Instructions),
		server.WithToolCapabilities(true),
		server.WithPromptCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completer{s}),
		server.WithResourceCompletionProvider(completer{s}),
		server.WithExtensions(extensions),
		server.WithHooks(s.hooks()),
		server.WithMethodCacheHints(mcp.MethodToolsList, ownList, mcp.CacheScopePrivate),
	}
	if s.config.Wrap != nil {
		options = append(options, server.WithLogging())
	}
	return options
}

// methods returns the handlers of methods that do not go to mcp-go.
func (s *Server) methods() map[string]wire.Method {
	all := s.hub.Methods()
	maps.Copy(all, s.tasks.Methods())
	if s.ownAll() {
		all["skills/list"], all["skills/get"] = listSkills, getSkill
	}
	if s.behind != nil {
		maps.Copy(all, s.behind.methods(all))
	}
	for name, method := range all {
		all[name] = public(method)
	}
	return all
}

// public returns the method with its errors converted to those that clients may see.
func public(method wire.Method) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		result, err := method(ctx, x)
		return result, wire.RPCError(err)
	}
}

// hooks add tasks to what clients of 2025-11-25 see. Other clients must not see them. mcp-go's own support for tasks
// (Tool.Execution) is not used.
func (s *Server) hooks() *server.Hooks {
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
		if result.ProtocolVersion == task.LegacyVersion {
			result.Capabilities.Tasks = mcp.NewTasksCapability()
		}
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		if task.HasLegacy(wire.From(ctx)) {
			s.showTaskSupport(result.Tools)
		}
	})
	return hooks
}

// showTaskSupport sets how each tool can be called as a task. The slice belongs to this response.
func (s *Server) showTaskSupport(tools []mcp.Tool) {
	for i, tool := range tools {
		t := s.jobs[tool.Name]
		if t == nil || t.Tasks == TasksForbidden {
			continue
		}
		support := mcp.TaskSupportOptional
		if t.Tasks == TasksRequired {
			support = mcp.TaskSupportRequired
		}
		tools[i].Execution = &mcp.ToolExecution{TaskSupport: support}
	}
}

// Run returns the State of the caller's run. Errors: not_found, also for the runs of others.
func (s *Server) Run(ctx context.Context, id messages.RunID) (messages.State, error) {
	return s.runs.Own(ctx, id)
}

// Runs returns the runs of the caller in ctx. It ignores the query's Principal and Everyone.
func (s *Server) Runs(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	return s.runs.List(ctx, q)
}

// Events yields the events of the caller's run after the given number. Errors: not_found, and the runtime's errors.
func (s *Server) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	if _, err := s.Run(ctx, id); err != nil {
		return func(yield func(messages.Event, error) bool) { yield(messages.Event{}, err) }
	}
	return s.runs.Events(ctx, id, after)
}
