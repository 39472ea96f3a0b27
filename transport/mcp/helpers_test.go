package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// era is how a client speaks: over which transport, in which protocol.
type era struct{ stdio, modern bool }

func (e era) String() string {
	transport, protocol := "http", "2025-11-25"
	if e.stdio {
		transport = "stdio"
	}
	if e.modern {
		protocol = "2026-07-28"
	}
	return transport + " " + protocol
}

var (
	legacyHTTP  = era{}
	modernHTTP  = era{modern: true}
	legacyStdio = era{stdio: true}
	modernStdio = era{stdio: true, modern: true}
)

// inEachEra runs the test as each kind of client.
func inEachEra(t *testing.T, test func(t *testing.T, how era)) {
	for _, how := range []era{legacyHTTP, modernHTTP, legacyStdio, modernStdio} {
		t.Run(how.String(), func(t *testing.T) { test(t, how) })
	}
}

// doorTo makes a door to a runtime of the jobs, with the tools.
func doorTo(t testing.TB, config mcp.Config, jobs []actors.Definition, tools ...mcp.JobTool) (*mcp.Server, *actors.System) {
	t.Helper()
	system, err := actors.New(context.Background(),
		actors.Config{Jobs: jobs, CancelSoft: time.Second, CancelHard: 2 * time.Second})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is told to end
		_ = system.Close(ctx)
	})
	config.Runs, config.Name, config.Version = system, "lastword", "test"
	return serverOf(t, config, tools...), system
}

func serverOf(t testing.TB, config mcp.Config, tools ...mcp.JobTool) *mcp.Server {
	t.Helper()
	s := mcp.New(config)
	t.Cleanup(s.Close)
	for _, tool := range tools {
		add(t, s, tool)
	}
	return s
}

// serving is doorTo without a config and the System.
func serving(t testing.TB, jobs []actors.Definition, tools ...mcp.JobTool) *mcp.Server {
	t.Helper()
	s, _ := doorTo(t, mcp.Config{}, jobs, tools...)
	return s
}

func add(t testing.TB, s *mcp.Server, tool mcp.JobTool) {
	t.Helper()
	must(t, s.AddJob(tool))
}

// library is the server of mcp-go behind the door.
func library(s *mcp.Server) *server.MCPServer { return s.Library().(*server.MCPServer) }

// scripted is the job script, which does what the script says, whatever its input.
func scripted(s faultplan.Script) actors.Definition { return named("script", s) }

func named(name string, s faultplan.Script) actors.Definition {
	return actors.Definition{Name: name, New: func(json.RawMessage) (actors.Job, error) { return s.Job(), nil }}
}

// message is a JSON-RPC message that came.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// as is who a client is.
type as struct {
	principal    string
	capabilities map[string]any
	scopes       []auth.Scope // all, if nil
}

func (a as) caller() auth.Principal {
	if a.scopes == nil {
		a.scopes = []auth.Scope{auth.Admin}
	}
	return auth.Principal{Name: a.principal, Scopes: a.scopes}
}

// client speaks JSON-RPC as it is on the wire, and hides nothing.
type client struct {
	t    testing.TB
	how  era
	as   as
	next int
	// inbox has what belongs to no exchange: requests of the server's, notifications of the session's.
	inbox chan message
	// session is the session's id, over HTTP.
	session string

	url  string         // over HTTP
	http *http.Client   // over HTTP
	in   io.WriteCloser // over stdio
	mu   sync.Mutex
	open map[string]*exchange // over stdio: by id and by token
}

// exchange is a request that was sent, and what comes for it.
type exchange struct {
	t      testing.TB
	id     string
	status int // of HTTP
	header http.Header
	inbox  chan message // closed where there will be no more
	leave  context.CancelFunc
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// dial connects a client to the door.
func dial(t testing.TB, s *mcp.Server, how era) *client {
	t.Helper()
	return dialAs(t, s, how, as{})
}

func dialAs(t testing.TB, s *mcp.Server, how era, who as) *client {
	t.Helper()
	c := &client{t: t, how: how, as: who, inbox: make(chan message, 1<<12), open: map[string]*exchange{}}
	if how.stdio {
		c.dialStdio(s)
	} else {
		c.dialHTTP(s)
	}
	if how.modern {
		return c
	}
	capabilities := who.capabilities
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	x := c.start("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": capabilities,
		"clientInfo": map[string]any{"name": "test", "version": "1"}})
	if m := x.response(); m.Error != nil {
		t.Fatalf("initialize: %+v", m.Error)
	}
	c.session = x.header.Get("Mcp-Session-Id")
	c.tell("notifications/initialized", nil)
	return c
}

func (c *client) dialHTTP(s *mcp.Server) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(auth.With(r.Context(), c.as.caller())))
	}))
	c.url, c.http = web.URL, web.Client()
	c.t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
}

func (c *client) dialStdio(s *mcp.Server) {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	c.in = ourOut
	ctx, ended := auth.With(context.Background(), c.as.caller()), make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.Serve(ctx, theirIn, theirOut); err != nil {
			c.t.Errorf("serve: %v", err)
		}
		theirOut.Close()
	}()
	go c.route(ourIn)
	c.t.Cleanup(func() {
		ourOut.Close()
		<-ended // what it still says is read, not an error
		ourIn.Close()
	})
}

// route hands what comes over stdio, in its order, to the exchanges that it is for.
func (c *client) route(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			c.t.Errorf("not a message: %q", lines.Bytes())
			continue
		}
		c.whose(m) <- m
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	closed := map[*exchange]bool{}
	for _, x := range c.open {
		if !closed[x] {
			closed[x] = true
			close(x.inbox)
		}
	}
	c.open = map[string]*exchange{}
}

func (c *client) whose(m message) chan<- message {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := "id " + string(m.ID)
	if m.Method != "" {
		key = "token " + tokenIn(m.Params)
	}
	x := c.open[key]
	if x == nil {
		return c.inbox
	}
	return x.inbox
}

// tokenIn is the token of a progress notification's parameters.
func tokenIn(params json.RawMessage) string {
	var p struct {
		Token json.RawMessage `json:"progressToken"`
	}
	_ = json.Unmarshal(params, &p)
	return string(p.Token)
}

// start sends a request.
func (c *client) start(method string, params map[string]any) *exchange {
	c.t.Helper()
	c.next++
	x := &exchange{t: c.t, id: fmt.Sprint(c.next), inbox: make(chan message, 1<<15)}
	body := c.message(method, params)
	body["id"] = c.next
	if !c.how.stdio {
		c.post(x, method, params, body)
		return x
	}
	c.mu.Lock()
	c.open["id "+x.id] = x
	if meta, ok := params["_meta"].(map[string]any); ok && meta["progressToken"] != nil {
		token, _ := json.Marshal(meta["progressToken"])
		c.open["token "+string(token)] = x
	}
	c.mu.Unlock()
	c.write(body)
	return x
}

func (c *client) message(method string, params map[string]any) map[string]any {
	params = maps.Clone(params)
	if params == nil {
		params = map[string]any{}
	}
	if c.how.modern {
		meta, _ := params["_meta"].(map[string]any)
		if meta = maps.Clone(meta); meta == nil {
			meta = map[string]any{}
		}
		capabilities := c.as.capabilities
		if capabilities == nil {
			capabilities = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
		meta["io.modelcontextprotocol/clientCapabilities"] = capabilities
		meta["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "test", "version": "1"}
		params["_meta"] = meta
	}
	return map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
}

func (c *client) write(body map[string]any) {
	c.t.Helper()
	line, err := json.Marshal(body)
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	if err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *client) request(ctx context.Context, method string, params map[string]any, body map[string]any) *http.Request {
	c.t.Helper()
	data, err := json.Marshal(body)
	must(c.t, err)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(data))
	must(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	if c.how.modern {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		for _, name := range []string{"name", "uri", "taskId"} {
			if v, ok := params[name].(string); ok {
				r.Header.Set("Mcp-Name", v)
			}
		}
	}
	return r
}

// post sends the request and has its stream read into the exchange. The status and the headers are there once the
// exchange has a message or has ended.
func (c *client) post(x *exchange, method string, params, body map[string]any) {
	c.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	x.leave = leave
	c.t.Cleanup(leave)
	r := c.request(ctx, method, params, body)
	go func() {
		defer close(x.inbox)
		response, err := c.http.Do(r)
		if err != nil {
			return // it was left
		}
		defer response.Body.Close()
		x.status, x.header = response.StatusCode, response.Header
		c.read(response, x.inbox)
	}()
}

// read hands the messages of a response, in their order, to the inbox.
func (c *client) read(response *http.Response, inbox chan<- message) {
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		var m message
		if json.NewDecoder(response.Body).Decode(&m) == nil {
			inbox <- m
		}
		return
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !ok || data == "" {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			c.t.Errorf("not a message: %q", data)
			continue
		}
		if m.Method != "" && m.ID != nil {
			c.inbox <- m
			continue
		}
		inbox <- m
	}
}

// tell sends a notification.
func (c *client) tell(method string, params map[string]any) {
	c.send(method, params, c.message(method, params))
}

// respond answers a request of the server's.
func (c *client) respond(id json.RawMessage, result any) {
	c.send("", nil, map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (c *client) send(method string, params, body map[string]any) {
	c.t.Helper()
	if c.how.stdio {
		c.write(body)
		return
	}
	response, err := c.http.Do(c.request(context.Background(), method, params, body))
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		c.t.Errorf("%s: status %d", method, response.StatusCode)
	}
}

// do sends a request and returns its response.
func (c *client) do(method string, params map[string]any) message {
	c.t.Helper()
	return c.start(method, params).response()
}

// callTool sends a tool call. A token that is not nil has it streamed.
func (c *client) callTool(name string, arguments any, token any) *exchange {
	c.t.Helper()
	params := map[string]any{"name": name, "arguments": arguments}
	if token != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	return c.start("tools/call", params)
}

// cancel tells the server that the exchange is not wanted any more, in the client's way.
func (c *client) cancel(x *exchange) {
	if c.how.modern && !c.how.stdio {
		x.leave()
		return
	}
	var id any
	_ = json.Unmarshal([]byte(x.id), &id)
	c.tell("notifications/cancelled", map[string]any{"requestId": id, "reason": "the user is bored"})
}

// hangUp is what a client does that is killed.
func (c *client) hangUp(x *exchange) {
	if c.how.stdio {
		c.in.Close()
		return
	}
	x.leave()
}

// take returns the next message of the exchange.
func (x *exchange) take() message {
	x.t.Helper()
	m, ok := x.may()
	if !ok {
		x.t.Fatal("the stream ended before its message")
	}
	return m
}

// may returns the next message of the exchange, or false at the end of its stream.
func (x *exchange) may() (message, bool) {
	x.t.Helper()
	select {
	case m, ok := <-x.inbox:
		return m, ok
	case <-time.After(patience):
		x.t.Fatal("no message came")
		return message{}, false
	}
}

// until returns the messages of the exchange up to its response, the response last.
func (x *exchange) until() []message {
	x.t.Helper()
	var all []message
	for {
		m := x.take()
		all = append(all, m)
		if m.Method == "" {
			return all
		}
	}
}

// response returns the exchange's response; what came before it is passed over.
func (x *exchange) response() message {
	x.t.Helper()
	all := x.until()
	return all[len(all)-1]
}

// toolResult is a tool's result as clients read it.
type toolResult struct {
	IsError    bool   `json:"isError"`
	ResultType string `json:"resultType"`
	Content    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		URI  string `json:"uri"`
		Name string `json:"name"`
		Mime string `json:"mimeType"`
		Size int64  `json:"size"`
	} `json:"content"`
	Structured mcp.RunResult `json:"structuredContent"`
	Meta       struct {
		Error *mcp.RunError   `json:"io.github.seed889630bf.lastword/error"` // where the call itself failed
		Event *messages.Event `json:"io.github.seed889630bf.lastword/event"` // the last, where the others were told
	} `json:"_meta"`
	RequestState  string                     `json:"requestState"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
}

// toolResult reads a response as a tool's result.
func (m message) toolResult(t testing.TB) toolResult {
	t.Helper()
	var r toolResult
	if m.Error != nil {
		t.Fatalf("the call failed: %d %s", m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("%v: %s", err, m.Result)
	}
	return r
}

// progressOf is what a progress notification says.
type progressOf struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    *float64        `json:"total"`
	Message  string          `json:"message"`
	Meta     struct {
		Event *messages.Event `json:"io.github.seed889630bf.lastword/event"`
	} `json:"_meta"`
}

// progress reads a message as a progress notification.
func (m message) progress(t testing.TB) progressOf {
	t.Helper()
	var p progressOf
	if m.Method != "notifications/progress" {
		t.Fatalf("not progress: %q %s", m.Method, m.Result)
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		t.Fatalf("%v: %s", err, m.Params)
	}
	return p
}
