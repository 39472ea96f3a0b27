package source

import (
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
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

const (
	mostStarts   = 5 // in startsWithin, and then the server is down
	startsWithin = 5 * time.Minute
	longestPause = 30 * time.Second // before a start

	probeTimeout    = time.Second // for a server that does not know how to discover
	listAge         = 5 * time.Minute
	mostTools       = 500
	mostDescription = 4 << 10 // bytes
	mostSchema      = 64 << 10
)

// server starts a server when it is wanted. Whoever holds turn may start, list and end it.
type server struct {
	Server
	life    context.Context
	version string
	log     *zap.Logger
	pause   time.Duration // before the second start; it doubles

	turn   chan struct{}
	conn   *connection
	starts []time.Time // the latest
	reason error       // why the last start failed
	known  []definition
	closed bool
}

// connection is one life of a server.
type connection struct {
	server *server
	link   link
	client *client.Client
	stale  atomic.Bool // the server has said that its tools have changed

	listing sync.Mutex
	tools   map[string]definition
	at      time.Time

	mu     sync.Mutex
	tokens int64
	calls  map[int64]*pending
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

// pin changes with all that a model is told of the tool.
func (d definition) pin() string {
	return messages.Digest(d.Name + "\x00" + d.Description + "\x00" + string(d.InputSchema))
}

// list returns the server's tools that the settings allow. With an error they are those that it had last.
func (s *server) list(ctx context.Context) ([]definition, error) {
	conn, err := s.connected(ctx, false)
	var now map[string]definition
	if err == nil {
		now, err = conn.listed(ctx)
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
		if (len(s.Only) == 0 || slices.Contains(s.Only, name)) && !slices.Contains(s.Except, name) {
			s.known = append(s.known, d)
		}
	}
	slices.SortStableFunc(s.known, func(a, b definition) int { return strings.Compare(a.Name, b.Name) })
	return s.known, nil
}

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

func (s *server) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *server) unlock() { <-s.turn }

// connected returns the connection, and starts the server if it does not run. Only a patient caller waits until it may
// be started again.
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
	pause := time.Duration(0)
	if n := len(s.starts); n > mostStarts {
		return nil, fmt.Errorf("server down: it was started %d times in %s; %w", n, startsWithin, s.why())
	} else if n > 0 {
		pause = min(s.pause<<(n-1), longestPause) - now.Sub(s.starts[n-1])
	}
	if pause > 0 && !patient {
		return nil, fmt.Errorf("server down: it may be started again in %s; %w", pause.Round(time.Second), s.why())
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

var errEnded = errors.New("it was ended with us")

func (s *server) why() error {
	if s.reason != nil {
		return s.reason
	}
	return errors.New("it ended")
}

// start starts the server. It lives on when ctx ends.
func (s *server) start(ctx context.Context) (*connection, error) {
	ctx, stop := context.WithTimeoutCause(ctx, s.StartTimeout, messages.Errorf(messages.CauseDeadline,
		"it did not start within %s", s.StartTimeout))
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	c, err := s.connect(ctx, probeTimeout)
	if errors.Is(err, mcp.ErrMethodNotFound) { // it cannot be initialized: it can discover, and was not ready in time
		c, err = s.connect(ctx, s.StartTimeout)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return c, err
}

// connect starts a life of the server. A server that has not answered after the probe is taken for one that must be
// initialized.
func (s *server) connect(ctx context.Context, probe time.Duration) (*connection, error) {
	l, err := dial(s.life, s.Server)
	if err != nil {
		return nil, err
	}
	c := &connection{server: s, link: l, calls: map[int64]*pending{}}
	asks := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}}
	c.client = client.NewClient(l, client.WithDiscoverTimeout(probe), client.WithElicitationHandler(c),
		client.WithClientCapabilities(asks))
	c.client.OnNotification(c.notified)
	err = c.client.Start(s.life)
	if err == nil {
		var r mcp.InitializeRequest
		r.Params.ClientInfo = mcp.Implementation{Name: "lastword", Version: s.version}
		_, err = c.client.Initialize(ctx, r)
	}
	if err != nil {
		_ = l.Close() // it has not begun
		return nil, err
	}
	return c, nil
}

// forget makes the next call connect again: the server no longer knows our session.
func (s *server) forget(c *connection) {
	s.turn <- struct{}{}
	defer s.unlock()
	if s.conn == c {
		s.drop()
		s.starts = nil
	}
}

// drop ends the connection, if there is one.
func (s *server) drop() {
	if s.conn != nil {
		_ = s.conn.link.Close() // how it ended is known already
		s.conn = nil
	}
}

func (s *server) close() {
	s.turn <- struct{}{}
	defer s.unlock()
	s.closed = true
	s.drop()
}

// listed returns what the server says about its tools. It asks again if they have changed, or may have.
func (c *connection) listed(ctx context.Context) (map[string]definition, error) {
	c.listing.Lock()
	defer c.listing.Unlock()
	if c.tools != nil && time.Since(c.at) < listAge && !c.stale.Load() {
		return c.tools, nil
	}
	ctx, stop := context.WithTimeout(ctx, c.server.StartTimeout)
	defer stop()
	c.stale.Store(false)
	tools, cursor := map[string]definition{}, mcp.Cursor("")
	for {
		var page struct {
			Tools      []definition
			NextCursor mcp.Cursor
		}
		ours := &request{ctx: ctx}
		var r mcp.ListToolsRequest
		r.Params.Cursor = cursor
		_, err := c.client.ListToolsByPage(context.WithValue(ctx, requestKey{}, ours), r)
		if ours.result != nil {
			err = json.Unmarshal(ours.result, &page)
		}
		if err != nil {
			c.stale.Store(true)
			return nil, fmt.Errorf("it does not list its tools: %w", err)
		}
		for _, d := range page.Tools {
			d.Description = words.Clip(d.Description, mostDescription)
			if len(d.InputSchema) <= mostSchema && len(tools) < mostTools {
				tools[d.Name] = d
			}
		}
		if page.NextCursor == "" || page.NextCursor == cursor || len(tools) == mostTools {
			c.tools, c.at = tools, time.Now()
			return tools, nil
		}
		cursor = page.NextCursor
	}
}
