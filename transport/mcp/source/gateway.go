package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
)

// Gateway gives access to servers as they are: their lists, answers and errors pass unchanged. Each principal has
// connections of its own, one for each set of capabilities that its clients declare. It is safe for concurrent use.
type Gateway struct {
	servers []Server
	version string
	events  Events
	log     *zap.Logger
	life    context.Context
	stop    context.CancelFunc

	mu   sync.Mutex
	open map[line]*server
}

// line says whose connection to a server it is, and what it declares.
type line struct {
	server, principal, capabilities string
	sessions                        bool
}

// Events are what servers say and ask of themselves. Functions may be nil.
type Events struct {
	// Changed is called when a server says that a list, or a resource with the URI, has changed.
	Changed func(method, uri string)
	// Ask puts a request of a server to a client of the principal. run is the run whose call asks, or "".
	Ask func(ctx context.Context, principal, run, method string, params json.RawMessage) (json.RawMessage, error)
}

// Caller is who uses a server, and what its client declares as its capabilities. There "sessions" says that the client has
// a session.
type Caller struct {
	Principal    string
	Capabilities json.RawMessage
}

// NewGateway returns a Gateway. It starts no server yet.
func NewGateway(servers []Server, version string, events Events, log *zap.Logger) *Gateway {
	life, stop := context.WithCancel(context.Background())
	return &Gateway{servers: servers, version: version, events: events, log: cmp.Or(log, zap.NewNop()), life: life, stop: stop,
		open: map[line]*server{}}
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
	var declared struct {
		mcp.ClientCapabilities
		Sessions bool
	}
	_ = json.Unmarshal(c.Capabilities, &declared) // of another form declares nothing
	asks := mcp.ClientCapabilities{Elicitation: declared.Elicitation, Sampling: declared.Sampling, Roots: declared.Roots}
	text, err := json.Marshal(asks)
	if err != nil {
		return nil, err
	}
	if settings.Shared {
		c.Principal = ""
	}
	k := line{name, c.Principal, string(text), declared.Sessions}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.life.Err() != nil {
		return nil, errEnded
	}
	s := g.open[k]
	if s == nil {
		s = &server{Server: settings, life: g.life, version: g.version, pause: firstPause, turn: make(chan struct{}, 1), asks: asks,
			principal: c.Principal, sessions: declared.Sessions, events: &g.events, lists: map[string]*entries{}, log: g.log.With(zap.String("server", name))}
		g.open[k] = s
	}
	return s, nil
}

// firstPause is the pause before the second start of a server behind this one.
const firstPause = 200 * time.Millisecond

// entries are a list of a server as of the last time.
type entries struct {
	all  []json.RawMessage
	ttl  int64 // in milliseconds
	at   time.Time
	conn *connection
}

// wrappedAge is the age after which a list is requested again, and up to which it stands in for a server that is down.
const wrappedAge = time.Minute

// List returns the entries of a server's list in its order, unparsed, and for how many milliseconds they hold. method is
// tools/list or another method that lists. A server that does not have the method has no entries.
func (g *Gateway) List(ctx context.Context, server string, c Caller, method string) (all []json.RawMessage, ttl int64, err error) {
	s, err := g.line(server, c)
	if err != nil {
		return nil, 0, err
	}
	timed, stop := context.WithTimeoutCause(ctx, s.StartTimeout, messages.Errorf(messages.CauseDeadline,
		"it did not answer %s within %s", method, s.StartTimeout))
	defer stop()
	var now *entries
	err = s.with(timed, false, func(conn *connection) (err error) {
		now, err = conn.entries(timed, method)
		return err
	})
	if err == nil {
		return now.all, now.ttl, nil
	}
	if timed.Err() != nil && ctx.Err() == nil {
		err = context.Cause(timed)
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	if last := s.lists[method]; last != nil && time.Since(last.at) < wrappedAge {
		return last.all, last.ttl, nil
	}
	return nil, 0, s.failed(err)
}

// listMembers are the members of results with the entries of a list.
var listMembers = map[string]string{"tools/list": "tools", "resources/list": "resources",
	"resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}

// entries returns a list, and requests it again if it has changed or is old.
func (c *connection) entries(ctx context.Context, method string) (*entries, error) {
	s := c.server
	s.listing.Lock()
	defer s.listing.Unlock()
	if last := s.lists[method]; last != nil && last.conn == c && time.Since(last.at) < wrappedAge {
		return last, nil
	}
	now := &entries{ttl: wrappedAge.Milliseconds(), conn: c, at: time.Now()}
	cursor := ""
	for range mostTools {
		params, _ := json.Marshal(map[string]string{"cursor": cursor})
		if cursor == "" {
			params = nil
		}
		text, err := c.pass(ctx, method, params)
		if refused, ok := errors.AsType[*Refused](err); ok && refused.Code == mcp.METHOD_NOT_FOUND {
			break
		}
		if err != nil {
			return nil, err
		}
		var page map[string]json.RawMessage
		var list []json.RawMessage
		if err := cmp.Or(json.Unmarshal(text, &page), json.Unmarshal(page[listMembers[method]], &list)); err != nil {
			return nil, err
		}
		now.all = append(now.all, list...)
		var more struct {
			NextCursor string
			TTLMS      *int64 `json:"ttlMs"`
		}
		if json.Unmarshal(text, &more) == nil && more.TTLMS != nil {
			now.ttl = min(now.ttl, max(*more.TTLMS, 0))
		}
		if more.NextCursor == "" || more.NextCursor == cursor {
			break
		}
		cursor = more.NextCursor
	}
	if method == "tools/list" {
		now.all = slices.DeleteFunc(now.all, func(raw json.RawMessage) bool { return !s.offers(raw) })
	}
	s.lists[method] = now
	return now, nil
}

// offers reports whether the settings allow a tool.
func (s *server) offers(raw json.RawMessage) bool {
	var d definition
	return json.Unmarshal(raw, &d) == nil && d.Name != "" && s.allows(d.Name)
}

// Pass passes a request on, and returns the result unparsed. An error of the server is a *[Refused].
func (g *Gateway) Pass(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (text json.RawMessage, err error) {
	s, err := g.line(server, c)
	if err != nil {
		return nil, err
	}
	err = s.with(ctx, true, func(conn *connection) (err error) { text, err = conn.pass(ctx, method, params); return err })
	if _, refused := errors.AsType[*Refused](err); err != nil && !refused {
		err = s.failed(err)
	}
	return text, err
}

// Call calls a tool, and returns its result unparsed. It starts the server if it is down. An error of the server is a
// *[Refused].
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
	err = s.with(ctx, true, func(conn *connection) (err error) {
		var r mcp.CallToolRequest
		r.Params.Name, r.Params.Arguments = tool, c.Arguments
		if len(c.Arguments) == 0 {
			r.Params.Arguments = nil
		}
		raw, err = conn.send(ctx, c, r)
		return err
	})
	switch _, refused := errors.AsType[*Refused](err); {
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
	late := time.AfterFunc(2*grace, g.stop)
	defer late.Stop()
	g.mu.Lock()
	var ending sync.WaitGroup
	for _, s := range g.open {
		ending.Go(s.close)
	}
	g.mu.Unlock()
	ending.Wait()
	g.stop()
}
