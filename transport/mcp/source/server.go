package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	mostStarts   = 5                // maximum number of starts within startsWithin
	startsWithin = 5 * time.Minute  // time within which mostStarts are counted
	longestPause = 30 * time.Second // the maximum pause before a start

	probeTimeout    = time.Second     // how long a server has to answer whether it supports discovery
	listAge         = 5 * time.Minute // age after which a list of tools is requested again
	mostTools       = 500             // tools of a server; further ones are left out
	mostDescription = 4 << 10         // maximum length of a tool's description in bytes
	mostSchema      = 64 << 10        // size of a tool's schema in bytes
)

// server is a configured server, which is started when it is needed. turn is a lock that can be awaited with a context;
// its holder may start, list and end the server, and may use the fields below it.
type server struct {
	Server
	life    context.Context
	version string
	log     *zap.Logger
	pause   time.Duration // pause before the second start; doubles each time

	turn   chan struct{}
	conn   *connection  // nil while the server is down
	starts []time.Time  // times of the latest starts
	reason error        // the error of the last start
	known  []definition // the tools as of the last list
	closed bool

	// asks is what the server is told that the client can do. Those below are of a [Gateway].
	asks      mcp.ClientCapabilities
	principal string
	// sessions says that the caller's client has a session, so that the server may ask it in the way of older versions.
	sessions bool
	events   *Events
	listing  sync.Mutex          // guards lists
	lists    map[string]*entries // by method
}

// connection is one lifetime of a server. listing guards tools, left and at; mu guards tokens, calls and hears.
type connection struct {
	server *server
	link   link
	client *client.Client
	// standing is what calls of tools say of this client.
	standing standing
	level    atomic.Value // of log messages, a string, as a server of 2026-07-28 hears it with each request
	stale    atomic.Bool  // the server said that its tools have changed

	listing sync.Mutex
	tools   map[string]definition // by name, as of at
	left    error                 // says which tools are left out; nil if none
	at      time.Time

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
func (s *server) list(ctx context.Context) ([]definition, error) {
	timed, stop := context.WithTimeoutCause(ctx, s.StartTimeout, messages.Errorf(messages.CauseDeadline,
		"it did not list its tools within %s", s.StartTimeout))
	defer stop()
	var now map[string]definition
	var left error
	err := s.with(timed, false, func(conn *connection) (err error) {
		now, left, err = conn.listed(timed)
		return err
	})
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		err = context.Cause(timed)
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	if err != nil {
		return s.known, s.failed(err)
	}
	s.known = nil
	for name, d := range now {
		if s.allows(name) {
			s.known = append(s.known, d)
		}
	}
	stable.Sort(s.known, func(a, b definition) int { return strings.Compare(a.Name, b.Name) })
	if left != nil {
		return s.known, s.failed(left)
	}
	return s.known, nil
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
	s.starts = slices.DeleteFunc(s.starts, func(at time.Time) bool { return now.Sub(at) > startsWithin })
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
	if s.reason != nil {
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
	options := []client.ClientOption{client.WithDiscoverTimeout(probe), client.WithClientCapabilities(s.asks)}
	if sessions {
		//lint:ignore SA1019 servers of older versions need it
		options = append(options, client.WithLegacyProtocolOnly())
	}
	if s.asks.Elicitation != nil {
		options = append(options, client.WithElicitationHandler(c))
	}
	if s.asks.Sampling != nil {
		options = append(options, client.WithSamplingHandler(c))
	}
	if s.asks.Roots != nil {
		options = append(options, client.WithRootsHandler(c))
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
		c.standing.Capabilities, _ = json.Marshal(s.asks)                                             // it was JSON
	}
	if s.events != nil && c.standing.Version != "" {
		ctx, stop := context.WithCancel(s.life)
		c.deaf = stop
		go c.listen(ctx)
	}
	return c, nil
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
	}
}

// close ends the server. It waits for a start that is under way.
func (s *server) close() {
	s.turn <- struct{}{}
	defer s.unlock()
	s.closed = true
	s.drop()
}

// listed returns the server's tools. It requests them again if they have changed or the list is old. left says which
// ones are left out.
func (c *connection) listed(ctx context.Context) (tools map[string]definition, left, err error) {
	c.listing.Lock()
	defer c.listing.Unlock()
	if c.tools != nil && time.Since(c.at) < listAge && !c.stale.Load() {
		return c.tools, c.left, nil
	}
	ctx, stop := context.WithTimeout(ctx, c.server.StartTimeout)
	defer stop()
	c.stale.Store(false) // before the request, so that a change during it counts
	tools = map[string]definition{}
	large := ""
	for cursor, pages := mcp.Cursor(""), 0; ; pages++ {
		page, next, err := c.page(ctx, cursor)
		if err != nil {
			c.stale.Store(true)
			return nil, nil, fmt.Errorf("it does not list its tools: %w", err)
		}
		for _, d := range page {
			d.Description = words.Clip(d.Description, mostDescription)
			if len(d.InputSchema) > mostSchema {
				large = d.Name
			} else if _, known := tools[d.Name]; known || len(tools) < mostTools {
				tools[d.Name] = d
			} else {
				left = fmt.Errorf("it has more than %d tools; the others are left out", mostTools)
			}
		}
		if next == "" || next == cursor || left != nil || pages == mostTools {
			break
		}
		cursor = next
	}
	if large != "" {
		left = errors.Join(left, fmt.Errorf("tools such as %s are left out: their schemas have more than %d bytes", large, mostSchema))
	}
	c.tools, c.left, c.at = tools, left, time.Now()
	return tools, left, nil
}

// page requests a page of the list of tools.
func (c *connection) page(ctx context.Context, cursor mcp.Cursor) ([]definition, mcp.Cursor, error) {
	var page struct {
		Tools      []definition
		NextCursor mcp.Cursor
	}
	ours := &request{ctx: ctx}
	var r mcp.ListToolsRequest
	r.Params.Cursor = cursor
	list, err := c.client.ListToolsByPage(context.WithValue(ctx, requestKey{}, ours), r)
	if ours.result != nil { // see keep
		err = json.Unmarshal(ours.result, &page)
	}
	if list != nil { // it lacks the tools whose x-mcp-header is invalid
		page.Tools = slices.DeleteFunc(page.Tools, func(d definition) bool {
			return !slices.ContainsFunc(list.Tools, func(t mcp.Tool) bool { return t.Name == d.Name })
		})
	}
	return page.Tools, page.NextCursor, err
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
