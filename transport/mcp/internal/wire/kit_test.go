package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{}`

// fixture is a server whose tools a test looks into.
type fixture struct {
	mcp     *server.MCPServer
	wire    *wire.Server
	entered chan *wire.Exchange // by the tool "wait"
	causes  chan error          // why "wait" ended
	release chan struct{}       // ends "hold", which heeds no context
}

func newFixture(t testing.TB, config wire.Config) *fixture {
	t.Helper()
	f := &fixture{entered: make(chan *wire.Exchange, 64), causes: make(chan error, 64), release: make(chan struct{})}
	f.mcp = server.NewMCPServer("fixture", "1", server.WithToolCapabilities(true), server.WithLogging(),
		server.WithResourceCapabilities(true, true))
	f.mcp.EnableSampling()
	for name, handler := range map[string]server.ToolHandlerFunc{
		"count": count, "wait": f.wait, "hold": f.hold, "panic": crash, "echo": echo,
		"instead": instead, "refused": refused, "pace": pace,
	} {
		f.mcp.AddTool(mcp.NewTool(name), handler)
	}
	config.MCP = f.mcp
	config.Info = mcp.Implementation{Name: "fixture", Version: "1"}
	f.wire = wire.New(config)
	t.Cleanup(f.wire.Close)
	return f
}

// count notifies n numbered events, each with what the caller sent as tag.
func count(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	for i := range r.GetInt("n", 5) {
		if err := x.Notify("notifications/progress", progress(x, i+1, r.GetString("tag", ""))); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText(r.GetString("tag", "")), nil
}

func progress(x *wire.Exchange, n int, tag string) map[string]any {
	return map[string]any{"progressToken": x.ProgressToken(), "progress": n, "message": tag}
}

func echo(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(r.GetString("tag", "")), nil
}

// wait says that it is there and waits for its end.
func (f *fixture) wait(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	if r.GetBool("begin", false) {
		_ = x.Notify("notifications/progress", progress(x, 1, ""))
	}
	f.entered <- x
	<-ctx.Done()
	f.causes <- context.Cause(ctx)
	return mcp.NewToolResultText("ended"), nil
}

func (f *fixture) hold(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	f.entered <- wire.From(ctx)
	<-f.release
	return mcp.NewToolResultText("held"), nil
}

func crash(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	panic("the secret is 42")
}

func instead(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	wire.From(ctx).Reply(map[string]any{"taskId": "t1", "resultType": "task"})
	return mcp.NewToolResultText("not this"), nil
}

func refused(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	if r.GetBool("begin", false) {
		_ = x.Notify("notifications/progress", progress(x, 1, ""))
	}
	x.Fail(&wire.Error{Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: "no sampling",
		Data: map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}}})
	return nil, fmt.Errorf("not this")
}

// pace notifies twice, a minute apart.
func pace(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	x := wire.From(ctx)
	for i := range 2 {
		if i > 0 {
			time.Sleep(time.Minute)
		}
		if err := x.Notify("notifications/progress", progress(x, i+1, "")); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("paced"), nil
}

// message is what tests read of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Progress  int             `json:"progress"`
		Message   string          `json:"message"`
		RequestID json.RawMessage `json:"requestId"`
		Level     string          `json:"level"`
		Meta      json.RawMessage `json:"_meta"`
	} `json:"params"`
}

func (m message) text() string {
	var r struct {
		Content []struct{ Text string } `json:"content"`
	}
	_ = json.Unmarshal(m.Result, &r)
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func read(t testing.TB, text []byte) message {
	t.Helper()
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return m
}

func toolCall(id, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`,
		id, tool, arguments, meta)
}

// client is a client over HTTP that sees what is on the wire. One without a session speaks 2026-07-28.
type client struct {
	t       testing.TB
	url     string
	session string
	headers map[string]string
	twice   string // a field to be sent beside the one of its name
	http    *http.Client
}

// serveHTTP serves the fixture over a socket. Who calls is said by a header, as a gate would find out.
func (f *fixture) serveHTTP(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := auth.With(r.Context(), auth.Principal{Name: r.Header.Get("Caller"), Scopes: scopesOf(r)})
		f.wire.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(s.Close)
	t.Cleanup(f.wire.Close)
	return s.URL
}

func scopesOf(r *http.Request) (scopes []auth.Scope) {
	for scope := range strings.FieldsSeq(r.Header.Get("Scopes")) {
		scopes = append(scopes, auth.Scope(scope))
	}
	return scopes
}

func modernClient(t testing.TB, url string) *client {
	c := &client{t: t, url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	t.Cleanup(c.http.CloseIdleConnections)
	c.headers = map[string]string{}
	return c
}

func sessionClient(t testing.TB, url string) *client {
	t.Helper()
	return sessionClientAs(t, url, "", `{}`)
}

// inSession is a fixture with a client that has a session.
func inSession(t testing.TB, config wire.Config) (*fixture, *client) {
	t.Helper()
	f := newFixture(t, config)
	return f, sessionClient(t, f.serveHTTP(t))
}

func sessionClientAs(t testing.TB, url, caller, capabilities string) *client {
	t.Helper()
	c := modernClient(t, url)
	c.headers["Caller"] = caller
	response := c.send(t.Context(), http.MethodPost, initialize(capabilities))
	c.session = response.Header.Get("Mcp-Session-Id")
	if body, _ := io.ReadAll(response.Body); c.session == "" || read(t, body).Error != nil {
		t.Fatalf("%s: %s", response.Status, body)
	}
	if status := c.notify("notifications/initialized", `{}`); status != http.StatusAccepted {
		t.Fatal(status)
	}
	return c
}

func initialize(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		capabilities + `,"clientInfo":{"name":"raw","version":"1"}}}`
}

// send sends a body with the headers that go with it. The response is closed with the test.
func (c *client) send(ctx context.Context, method, body string) *http.Response {
	c.t.Helper()
	response, err := c.try(ctx, method, body)
	must(c.t, err)
	c.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (c *client) try(ctx context.Context, method, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	c.route(r, body)
	for name, value := range c.headers {
		if r.Header.Set(name, value); value == "-" {
			r.Header.Del(name)
		}
	}
	if name, value, more := strings.Cut(c.twice, ": "); more {
		r.Header.Add(name, value)
	}
	return c.http.Do(r)
}

func (c *client) route(r *http.Request, body string) {
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if !strings.Contains(body, "2026-07-28") {
		return
	}
	var m struct {
		Method string
		Params struct{ Name, URI, TaskID string }
	}
	_ = json.Unmarshal([]byte(body), &m)
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", m.Method)
	if name := m.Params.Name + m.Params.URI + m.Params.TaskID; name != "" {
		r.Header.Set("Mcp-Name", name)
	}
}

// ask sends a request and returns the status and the messages of the answer.
func (c *client) ask(body string) (int, []message) {
	c.t.Helper()
	response := c.send(c.t.Context(), http.MethodPost, body)
	defer response.Body.Close()
	return response.StatusCode, drain(c.t, response)
}

func (c *client) call(id, tool, arguments string) (int, []message) {
	c.t.Helper()
	return c.ask(toolCall(id, tool, arguments, c.meta()))
}

func (c *client) meta() string {
	if c.session == "" {
		return `"progressToken":"p",` + modernMeta
	}
	return `"progressToken":"p"`
}

func (c *client) notify(method, params string) int {
	c.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
	return c.send(c.t.Context(), http.MethodPost, body).StatusCode
}

// drain reads all messages of a response, JSON or events.
func drain(t testing.TB, response *http.Response) []message {
	t.Helper()
	if !isStream(response) {
		body, err := io.ReadAll(response.Body)
		must(t, err)
		if len(body) == 0 {
			return nil
		}
		return []message{read(t, body)}
	}
	var all []message
	for s := newStream(t, response.Body); ; {
		m, ok := s.next()
		if !ok {
			return all
		}
		all = append(all, m)
	}
}

func isStream(response *http.Response) bool {
	return response.Header.Get("Content-Type") == "text/event-stream"
}

// stream reads events, a message each, and counts the comments.
type stream struct {
	t        testing.TB
	lines    *bufio.Scanner
	comments int
	ids      []string
}

func newStream(t testing.TB, from io.Reader) *stream {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	return &stream{t: t, lines: lines}
}

func (s *stream) next() (message, bool) {
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && len(data) > 0 {
			return read(s.t, data), true
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			s.ids = append(s.ids, string(id))
		}
		if bytes.HasPrefix(line, []byte(":")) {
			s.comments++
		}
	}
	return message{}, false
}

// console is a client on stdio.
type console struct {
	t     testing.TB
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
	mu    sync.Mutex
}

func (f *fixture) serveStdio(t testing.TB) *console {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	c := &console{t: t, in: in, lines: bufio.NewScanner(out), ended: make(chan error, 1)}
	c.lines.Buffer(nil, 16<<20)
	go func() {
		err := f.wire.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return c
}

func (c *console) send(text string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := io.WriteString(c.in, text+"\n")
	must(c.t, err)
}

func (c *console) next() message {
	c.t.Helper()
	return read(c.t, c.line())
}

// take returns the next messages.
func (c *console) take(n int) (all []message) {
	c.t.Helper()
	for range n {
		all = append(all, c.next())
	}
	return all
}

func (c *console) line() []byte {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatal("stdout ended: ", c.lines.Err())
	}
	return c.lines.Bytes()
}

// begunStdio is serveStdio with a session of a client that declares nothing.
func (f *fixture) begunStdio(t testing.TB) *console {
	t.Helper()
	c := f.serveStdio(t)
	c.begin(`{}`)
	return c
}

func (c *console) begin(capabilities string) {
	c.t.Helper()
	c.send(initialize(capabilities))
	if m := c.next(); m.Error != nil || string(m.ID) != "0" {
		c.t.Fatalf("%+v", m)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

var must = fatal.IfError
