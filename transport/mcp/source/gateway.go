package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
)

// Gateway gives access to servers as they are: their lists, answers and errors pass unchanged. Each principal has
// its own connections, one for each set of capabilities that its clients declare. It is safe for concurrent use.
type Gateway struct {
	servers []Server
	version string
	events  Events
	log     *zap.Logger
	lives

	mu   sync.Mutex
	open map[line]*server
}

// line says whose connection to a server it is, and what it declares.
type line struct{ server, principal, declared string }

// Events are what servers say and ask of themselves. Functions may be nil.
type Events struct {
	// Changed is called when a server says that a list, or a resource with the URI, has changed.
	Changed func(method, uri string)
	// Ask puts a request of a server to a client of the principal. run is the run whose call asks, or "".
	Ask func(ctx context.Context, principal, run, method string, params json.RawMessage) (json.RawMessage, error)
	// Offer reports whether a tool is offered. It is asked once about each tool of a list, and about all again while it
	// withholds one.
	Offer func(server string, tool json.RawMessage) bool
}

// Caller is who uses a server, and what its client declares, as [Declare] returns it.
type Caller struct {
	Principal    string
	Capabilities json.RawMessage
}

// declared is what servers may hear of a client.
type declared struct {
	Elicitation *mcp.ElicitationCapability `json:"elicitation,omitempty"`
	Sampling    *mcp.SamplingCapability    `json:"sampling,omitempty"`
	Roots       any                        `json:"roots,omitempty"`
	Sessions    bool                       `json:"sessions,omitempty"`
}

// Declare returns what servers may ask a client with the capabilities. sessions says that the client has a session.
func Declare(c mcp.ClientCapabilities, sessions bool) json.RawMessage {
	d := declared{Elicitation: c.Elicitation, Sampling: c.Sampling, Sessions: sessions}
	if c.Roots != nil {
		d.Roots = c.Roots
	}
	text, _ := json.Marshal(d) // it was JSON
	return text
}

// NewGateway returns a Gateway. It starts no server yet.
func NewGateway(servers []Server, version string, events Events, log *zap.Logger) *Gateway {
	return &Gateway{servers: servers, version: version, events: events, log: cmp.Or(log, zap.NewNop()), lives: newLives(), open: map[line]*server{}}
}

// Servers returns the names of the servers, in their order.
func (g *Gateway) Servers() (names []string) {
	for _, s := range g.servers {
		names = append(names, s.Name)
	}
	return names
}

// Server returns the settings of a server.
func (g *Gateway) Server(name string) (Server, bool) {
	i := slices.IndexFunc(g.servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return g.servers[i], true
}

// line returns the caller's connection to a server.
func (g *Gateway) line(name string, c Caller) (*server, error) {
	settings, known := g.Server(name)
	if !known {
		return nil, messages.InvalidInput("there is no server %q behind this one; name it with --wrap", name)
	}
	if settings.Shared {
		c.Principal = ""
	}
	k := line{name, c.Principal, string(c.Capabilities)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.open[k]; s != nil {
		return s, nil
	}
	if g.life.Err() != nil {
		return nil, errEnded
	}
	var said struct {
		mcp.ClientCapabilities
		Sessions bool
	}
	_ = json.Unmarshal(c.Capabilities, &said) // of another form declares nothing
	k.declared = string(Declare(said.ClientCapabilities, said.Sessions))
	s := g.open[k]
	if s == nil {
		asks := mcp.ClientCapabilities{Elicitation: said.Elicitation, Sampling: said.Sampling, Roots: said.Roots}
		s = newServer(&g.lives, settings, g.version, firstPause, asks, g.log)
		s.principal, s.sessions, s.events = c.Principal, said.Sessions, &g.events
		g.open[k] = s
	}
	return s, nil
}

// firstPause is the pause before the second start of a server behind this one.
const firstPause = 200 * time.Millisecond

// Pass passes a request on, and returns the result unparsed. An error of the server has the method RPC, which returns it whole.
func (g *Gateway) Pass(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (text json.RawMessage, err error) {
	s, err := g.line(server, c)
	if err != nil {
		return nil, err
	}
	err = s.with(ctx, true, func(conn *connection) (err error) { text, err = conn.pass(ctx, method, params); return err })
	if _, refused := errors.AsType[*rpcError](err); err != nil && !refused {
		err = s.failed(err)
	}
	if err == nil {
		s.remember(mcp.MCPMethod(method), string(params))
	}
	return text, err
}

// PassAll passes a request on to all servers, and drops the answers. It waits for them until patience is over.
func (g *Gateway) PassAll(ctx context.Context, c Caller, method string, params json.RawMessage, patience time.Duration) {
	answered := make(chan struct{}, len(g.servers))
	for _, s := range g.servers {
		go func() {
			ctx, stop := context.WithTimeout(g.listens, s.StartTimeout)
			defer stop()
			_, _ = g.Pass(ctx, s.Name, c, method, params) // a server without the method refuses it
			answered <- struct{}{}
		}()
	}
	late := time.After(patience)
	for range g.servers {
		select {
		case <-answered:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Call calls a tool, and returns its result unparsed. It starts the server if it is down. An error of the server is a
// refusal with the method RPC, which returns it whole.
func (g *Gateway) Call(ctx context.Context, server, tool string, caller Caller, c Call) (raw json.RawMessage, err error) {
	s, err := g.line(server, caller)
	if err != nil {
		return nil, err
	}
	if !s.allows(tool) {
		return nil, messages.InvalidInput("the settings of the MCP server %s leave out the tool %s", server, tool)
	}
	if s.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, s.Timeout, messages.Errorf(messages.CauseDeadline,
			"the tool %s took longer than %s, as its server's settings allow", tool, s.Timeout))
		defer stop()
	}
	err = s.with(ctx, true, func(conn *connection) (err error) { raw, err = conn.send(ctx, tool, c); return err })
	switch _, refused := errors.AsType[*rpcError](err); {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !refused:
		return nil, s.failed(err)
	}
	return raw, err
}

// Make makes a run's call. The run hears what the server says during it.
func (g *Gateway) Make(ctx context.Context, c wrapped.Call) (json.RawMessage, error) {
	var shown struct {
		Execution struct{ TaskSupport string }
	}
	_ = json.Unmarshal(c.Shown, &shown) // nothing is said without it
	return g.Call(ctx, c.Server, c.Tool, Caller{Principal: c.Principal, Capabilities: c.Client}, Call{ID: "call", Run: c.Run, Key: c.Key,
		Task: shown.Execution.TaskSupport == "required", Arguments: c.Arguments, Ask: c.Ask,
		Note: func(method string, params map[string]any) { Note(c, method, params) }})
}

// Note tells a run what a server has said: progress, or a message of its log.
func Note(c wrapped.Call, method string, params map[string]any) {
	switch method {
	case "notifications/message":
		c.Log(logged(params))
	case "notifications/progress":
		done, _ := params["progress"].(float64)
		total, _ := params["total"].(float64)
		message, _ := params["message"].(string)
		c.Progress(done, total, message)
	}
}

// logged returns the level and the text of a log message: its data, or all of it as JSON if a line does not say all.
func logged(params map[string]any) (level, text string) {
	level, _ = params["level"].(string)
	if plain, ok := params["data"].(string); ok && params["logger"] == nil && slices.Contains([]string{"debug", "info", "warning", "error"}, level) {
		return level, plain
	}
	whole, _ := json.Marshal(params) // it was JSON
	return level, string(whole)
}

// Close stops the servers and waits until they have ended.
func (g *Gateway) Close() {
	g.mu.Lock()
	open := slices.Collect(maps.Values(g.open))
	g.mu.Unlock()
	g.end(open)
}
