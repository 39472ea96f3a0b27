package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

const (
	mostStarts   = 5                // maximum number of starts within startsWithin
	startsWithin = 5 * time.Minute  // time within which mostStarts are counted
	longestPause = 30 * time.Second // the maximum pause before a start

	probeTimeout = time.Second // how long a server has to answer whether it supports discovery
)

// server is a configured server, which is started when it is needed. turn is a lock that can be awaited with a context;
// its holder may start, list and end the server, and may use the fields below it.
type server struct {
	Server
	life    context.Context
	listens context.Context // ends before life: then nobody waits for lists any more
	version string
	log     *zap.Logger
	pause   time.Duration // pause before the second start; doubles each time

	turn   chan struct{}
	conn   *connection // nil while the server is down
	starts []time.Time // times of the latest starts
	reason error       // the error of the last start
	closed bool

	// asks is what the server is told that the client can do. Those below are of a [Gateway].
	asks      mcp.ClientCapabilities
	principal string
	// sessions says that the caller's client has a session, so that the server may ask it in the way of older versions.
	sessions bool
	events   *Events

	listing  sync.Mutex               // guards the fields below it
	lists    map[string]*entries      // the last ones, by method
	requests map[string]*listing      // those under way, by method
	changes  int                      // how often lists may have changed
	unlisted bool                     // the last request failed
	lasting  map[string]mcp.MCPMethod // see remember, by their parameters
}

// lives is how long servers live, and how long somebody waits for their lists, which ends first.
type lives struct {
	life, listens context.Context
	stop, hush    context.CancelFunc
}

func newLives() (l lives) {
	l.life, l.stop = context.WithCancel(context.Background())
	l.listens, l.hush = context.WithCancel(l.life)
	return l
}

// end stops the servers and waits until they have ended.
func (l *lives) end(servers []*server) {
	l.hush()
	late := time.AfterFunc(2*grace, l.stop) // for a server that is just starting
	defer late.Stop()
	defer l.stop()
	var ending sync.WaitGroup
	for _, s := range servers {
		ending.Go(s.close)
	}
	ending.Wait()
}

func newServer(l *lives, settings Server, version string, pause time.Duration, asks mcp.ClientCapabilities, log *zap.Logger) *server {
	return &server{Server: settings, life: l.life, listens: l.listens, version: version, pause: pause, turn: make(chan struct{}, 1), asks: asks,
		lists: map[string]*entries{}, requests: map[string]*listing{}, lasting: map[string]mcp.MCPMethod{}, log: log.With(zap.String("server", settings.Name))}
}

// connection is one lifetime of a server. mu guards tokens, calls and hears.
type connection struct {
	server *server
	link   link
	client *client.Client
	// standing is what calls of tools say of this client.
	standing standing
	level    atomic.Value // of log messages, a string, as a server of 2026-07-28 hears it with each request

	mu     sync.Mutex
	tokens int64              // the last progress token
	calls  map[int64]*pending // calls in progress, by progress token
	hears  listening
	deaf   context.CancelFunc // ends listen; nil if it was not called
}

// definition is what a server says about a tool.
type definition struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Annotations struct {
		ReadOnlyHint, IdempotentHint bool
		OpenWorldHint                *bool
	}
}

// pin returns a digest of everything that a model is told about the tool.
func (d definition) pin() string {
	return messages.Digest(d.Name + "\x00" + d.Description + "\x00" + string(d.InputSchema))
}

// list returns the server's tools that the settings allow. It waits no longer than a start may take. After an error it
// returns the last known ones. The error also says which tools are left out.
func (s *server) list(ctx context.Context) (known []definition, err error) {
	l := s.request("tools/list")
	select {
	case <-l.done:
		err = l.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.listing.Lock()
	last := s.lists["tools/list"]
	s.listing.Unlock()
	if last == nil {
		return nil, err
	}
	tools, left := s.definitions(last)
	names := slices.Clone(last.all.Names)
	slices.Sort(names)
	for _, name := range names {
		if d, ok := tools[name]; ok {
			known = append(known, d)
		}
	}
	if err == nil && left != nil {
		err = s.failed(left)
	}
	return known, err
}

// tool returns a tool as the settings allow it to be seen.
func (s *server) tool(d definition, name string) Tool {
	origin := fmt.Sprintf("%q in %q, %q", append([]string{s.Command}, s.Args...), s.Folder, s.URL)
	t := Tool{Server: s.Name, Origin: origin, Name: name, Description: d.Description, Parameters: d.InputSchema, Timeout: s.Timeout,
		Named: slices.Contains(s.Only, d.Name)}
	if hints := d.Annotations; s.Trust {
		t.ReadOnly, t.Idempotent = hints.ReadOnlyHint, hints.ReadOnlyHint || hints.IdempotentHint
		t.Local = hints.OpenWorldHint != nil && !*hints.OpenWorldHint
	}
	pin := d.pin()
	t.Call = func(ctx context.Context, c Call) (string, error) { return s.call(ctx, d.Name, pin, c) }
	return t
}

// lock waits for the server's turn. Unlike a mutex, it gives up when ctx is done.
func (s *server) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *server) unlock() { <-s.turn }

// connected returns the connection, and starts the server if it is not running. If the server may not be restarted yet,
// a patient caller waits; others get an error.
func (s *server) connected(ctx context.Context, patient bool) (*connection, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	switch {
	case s.closed:
		return nil, errEnded
	case s.conn != nil && !s.conn.link.lost():
		return s.conn, nil
	}
	s.drop()
	now := time.Now()
	s.starts = slices.DeleteFunc(s.starts, func(when time.Time) bool { return now.Sub(when) > startsWithin })
	pause, why := time.Duration(0), cmp.Or(s.reason, errors.New("it ended"))
	if n := len(s.starts); n > mostStarts {
		return nil, fmt.Errorf("server down: it was started %d times in %s; %w", n, startsWithin, why)
	} else if n > 0 {
		pause = min(s.pause<<(n-1), longestPause) - now.Sub(s.starts[n-1])
	}
	if pause > 0 && !patient {
		return nil, fmt.Errorf("server down: it may be started again in %s; %w", pause.Round(time.Second), why)
	}
	if pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.life.Done():
			return nil, errEnded
		}
	}
	s.starts = append(s.starts, time.Now())
	s.conn, s.reason = s.start(ctx)
	if s.reason != nil && s.listens.Err() == nil {
		s.log.Warn("an MCP server does not start", zap.Error(s.reason))
	}
	return s.conn, s.reason
}

// errEnded is the reason of servers that were ended at the end of this program.
var errEnded = errors.New("it ended together with lastword")

// start starts the server. The server outlives ctx.
func (s *server) start(ctx context.Context) (*connection, error) {
	ctx, stop := context.WithTimeoutCause(ctx, s.StartTimeout, messages.Errorf(messages.CauseDeadline,
		"it did not start within %s", s.StartTimeout))
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	if s.sessions {
		if c, err := s.connect(ctx, probeTimeout, true); err == nil {
			return c, nil
		}
	}
	c, err := s.connect(ctx, probeTimeout, false)
	if errors.Is(err, mcp.ErrMethodNotFound) { // it supports discovery, but was not ready in time
		c, err = s.connect(ctx, s.StartTimeout, false)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return c, err
}

// connect connects to the server. If the server does not answer the probe in time, connect assumes an older version
// that must be initialized. With sessions it does so at once.
func (s *server) connect(ctx context.Context, probe time.Duration, sessions bool) (*connection, error) {
	c := &connection{server: s, calls: map[int64]*pending{}}
	if err := c.dial(); err != nil {
		return nil, err
	}
	can := s.asks
	can.Extensions = map[string]any{tasksExtension: struct{}{}}
	h := c.host()
	options := []client.ClientOption{client.WithDiscoverTimeout(probe), client.WithClientCapabilities(can), client.WithElicitationHandler(h.Elicitation),
		client.WithSamplingHandler(h.Sampling), client.WithRootsHandler(h.Roots)}
	if sessions {
		//lint:ignore SA1019 servers of older versions need it
		options = append(options, client.WithLegacyProtocolOnly())
	}
	c.client = client.NewClient(c.link, options...)
	c.client.OnNotification(c.notified)
	err := c.client.Start(s.life)
	if err == nil {
		var r mcp.InitializeRequest
		r.Params.ClientInfo = mcp.Implementation{Name: "lastword", Version: s.version}
		_, err = c.client.Initialize(ctx, r)
	}
	if err != nil {
		_ = c.link.Close() // nothing was sent yet
		return nil, err
	}
	if version := c.client.ProtocolVersion(); mcp.IsModernProtocol(version) {
		c.standing.Version = version
		c.standing.Client, _ = json.Marshal(mcp.Implementation{Name: "lastword", Version: s.version}) // plain texts
		c.standing.Capabilities, _ = json.Marshal(can)                                                // it was JSON
	}
	c.remind(ctx)
	if s.events != nil && c.standing.Version != "" {
		ctx, stop := context.WithCancel(s.life)
		c.deaf = stop
		go c.listen(ctx)
	}
	return c, nil
}

// remember keeps a request whose effect the server loses when it ends: the level of log messages, and subscriptions.
func (s *server) remember(method mcp.MCPMethod, params string) {
	s.listing.Lock()
	defer s.listing.Unlock()
	switch method {
	case mcp.MethodSetLogLevel:
		for earlier, other := range s.lasting {
			if other == method {
				delete(s.lasting, earlier)
			}
		}
		s.lasting[params] = method
	case mcp.MethodResourcesSubscribe:
		s.lasting[params] = method
	case mcp.MethodResourcesUnsubscribe:
		delete(s.lasting, params)
	}
}

// remind makes the remembered requests again.
func (c *connection) remind(ctx context.Context) {
	c.server.listing.Lock()
	lasting := maps.Clone(c.server.lasting)
	c.server.listing.Unlock()
	ctx, stop := context.WithTimeout(ctx, probeTimeout)
	defer stop()
	for params, method := range lasting {
		_, _ = c.pass(ctx, string(method), json.RawMessage(params)) // it may lack them now
	}
}

// with calls do with the connection. If the server has forgotten the session, it calls do again with a new one: the
// server has done nothing yet.
func (s *server) with(ctx context.Context, patient bool, do func(*connection) error) error {
	for renewed := false; ; renewed = true {
		conn, err := s.connected(ctx, patient)
		if err == nil {
			err = do(conn)
		}
		if renewed || !errors.Is(err, transport.ErrSessionTerminated) {
			return err
		}
		s.forget(conn)
	}
}

// forget drops a connection whose session the server has forgotten.
func (s *server) forget(c *connection) {
	s.turn <- struct{}{}
	defer s.unlock()
	if s.conn == c {
		s.drop()
		s.starts = nil
	}
}

// drop closes the connection, if there is one.
func (s *server) drop() {
	if s.conn != nil {
		if s.conn.deaf != nil {
			s.conn.deaf()
		}
		_ = s.conn.link.Close() // the reason is known already
		s.conn = nil
		s.outdate()
	}
}

// close ends the server. It waits for a start that is under way.
func (s *server) close() {
	s.turn <- struct{}{}
	defer s.unlock()
	s.closed = true
	s.drop()
}

const mostName = 64 // maximum length, in bytes, that all model providers accept

// nameOf returns the name mcp__SERVER__TOOL with characters that all model providers accept. If it had to be changed or
// cut, or if it is taken, it ends with a digest. Names are never parsed.
func nameOf(server, tool string, taken map[string]bool) string {
	exact := "mcp__" + server + "__" + tool
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, exact)
	if name == exact && len(name) <= mostName && !taken[name] {
		return name
	}
	digest := "_" + messages.Digest(server + "\x00" + tool)[:12]
	return name[:min(len(name), mostName-len(digest))] + digest
}
