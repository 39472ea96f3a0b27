package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// Call is a call of a tool by a run.
type Call struct {
	// ID identifies the call, Run the caller.
	ID, Run   string
	Arguments json.RawMessage
	// Progress gets the call's progress. It is not called after the call has ended.
	Progress func(done, total int64, unit string) error
	// Note, if not nil, gets the notifications about the call, progress and log messages, in order, instead of Progress.
	// Then questions are passed on as they are.
	Note func(method string, params map[string]any)
	// Key is sent with the call: it is the same for all repetitions.
	Key string
	// Task says that the server makes such calls as tasks alone.
	Task bool
	// Ask asks the run's people a question of the server.
	Ask func(ctx context.Context, in messages.InputRequired) (json.RawMessage, error)
}

// pending is a call in progress. mu guards the fields below it.
type pending struct {
	Call
	ctx context.Context

	mu      sync.Mutex
	asked   map[string]int // how often each question was asked, by name
	notes   []note         // those that wait
	telling chan struct{}  // closed when the goroutine that passes them on ends; nil without one
	over    bool           // nothing more is added
}

// note is a notification about a call.
type note struct {
	method string
	params map[string]any
}

// mostNotes is the number of notifications that wait while the run is slow. Then the oldest is dropped. Without Note only
// the latest counts.
const mostNotes = 256

// add adds a note, and starts a goroutine that passes it on if there is none.
func (p *pending) add(n note) {
	most := mostNotes
	if p.Note == nil {
		most = 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.notes = append(p.notes, n); len(p.notes) > most {
		p.notes = p.notes[1:]
	}
	if p.telling == nil {
		p.telling = make(chan struct{})
		go p.tell(p.telling)
	}
}

// tell passes notes on until there are none.
func (p *pending) tell(ended chan<- struct{}) {
	defer close(ended)
	for {
		p.mu.Lock()
		if len(p.notes) == 0 {
			p.telling = nil
			p.mu.Unlock()
			return
		}
		n := p.notes[0]
		p.notes = p.notes[1:]
		p.mu.Unlock()
		if p.tellOne(n) != nil {
			p.mu.Lock()
			p.notes, p.over = nil, true
			p.mu.Unlock()
		}
	}
}

// end returns when all notes are passed on: what came before the result is told before it.
func (p *pending) end() {
	p.mu.Lock()
	p.over = true
	telling := p.telling
	p.mu.Unlock()
	if telling != nil {
		<-telling
	}
}

// call calls the tool. It fails if the tool is no longer what the model was told.
func (s *server) call(ctx context.Context, name, pin string, c Call) (string, error) {
	var raw json.RawMessage
	gone := false
	err := s.with(ctx, true, func(conn *connection) error {
		list, err := conn.entries(ctx, "tools/list")
		if err != nil {
			return err
		}
		now, _ := s.definitions(list)
		if d, ok := now[name]; !ok || d.pin() != pin {
			gone = true
			return nil
		}
		raw, err = conn.send(ctx, name, c)
		return err
	})
	if gone {
		return "", messages.InvalidInput("the MCP server %s has changed or removed the tool %s since this turn began; "+
			"do without it, the next turn may call it again", s.Name, name)
	}
	var got result
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err != nil {
		return "", s.failed(err)
	}
	return got.text()
}

// failed adds the name of the server to an error.
func (s *server) failed(err error) error {
	code := cmp.Or(messages.CodeOf(err), messages.CauseError)
	if wrapped, ok := errors.AsType[*transport.Error](err); ok {
		err = wrapped.Unwrap() // the wrapping error adds no information
	}
	return messages.Errorf(code, "the MCP server %s: %v", s.Name, err)
}

// send sends the call and returns its result.
func (c *connection) send(ctx context.Context, tool string, call Call) (json.RawMessage, error) {
	p := &pending{Call: call, ctx: ctx}
	token := c.begin(p)
	ours := &request{ctx: ctx, call: p}
	asking := context.WithValue(ctx, requestKey{}, ours)
	var err error
	if _, remote := c.link.(*httpLink); remote || call.Task {
		err = c.ask(asking, tool, token, ours)
	} else {
		err = c.askPlainly(asking, tool, token, ours)
	}
	c.end(token)
	p.end()
	if call.Note != nil && err != nil && ours.refused != nil {
		return nil, ours.refused
	}
	var got result
	if err != nil && (ours.result == nil || json.Unmarshal(ours.result, &got) != nil || got.Type == "input_required") {
		return nil, err
	}
	return ours.result, nil
}

// askPlainly has mcp-go's client ask only if the server wants to know more: the client encodes each request four times.
func (c *connection) askPlainly(ctx context.Context, tool string, token int64, ours *request) error {
	r := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(ownIDs + token), Method: string(mcp.MethodToolsCall)}
	level, _ := c.level.Load().(string)
	r.Params = callParams{tool, ours.call.Arguments, standingMeta{metaOf(ctx, token, ours), level, c.standing}}
	answer, err := c.link.SendRequest(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		go c.cancelRequest(context.WithoutCancel(ctx), r.ID, ctx.Err().Error())
	case err == nil && answer.Error != nil:
		return answer.Error.AsError()
	case err == nil && bytes.Contains(answer.Result, []byte("input_required")):
		ours.again = answer
		return c.ask(ctx, tool, token, ours)
	}
	return err
}

// ownIDs is less than the ids of askPlainly's requests, and greater than the ids of mcp-go's client.
const ownIDs = 1 << 30

// callParams are the parameters of tools/call.
type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Meta      standingMeta    `json:"_meta"`
}

// callMeta is what a call itself says in _meta.
type callMeta struct {
	Token  int64  `json:"progressToken"`
	Key    string `json:"io.github.seed889630bf.lastword/key,omitempty"`
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`
}

func metaOf(ctx context.Context, token int64, ours *request) callMeta {
	trace := messages.TraceOf(ctx)
	return callMeta{token, ours.call.Key, trace.Parent, trace.State}
}

// standingMeta has what mcp-go's client would add.
type standingMeta struct {
	callMeta
	Level string `json:"io.modelcontextprotocol/logLevel,omitempty"`
	standing
}

// standing is what each request says to a server of 2026-07-28.
type standing struct {
	Version      string          `json:"io.modelcontextprotocol/protocolVersion,omitempty"`
	Client       json.RawMessage `json:"io.modelcontextprotocol/clientInfo,omitempty"`
	Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities,omitempty"`
}

// cancelRequest says that nobody waits for a request any more.
func (c *connection) cancelRequest(ctx context.Context, id mcp.RequestId, why string) {
	ctx, stop := context.WithTimeout(ctx, replyTimeout)
	defer stop()
	_ = c.link.SendNotification(ctx, mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: string(mcp.MethodNotificationCancelled),
		Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id, "reason": why}},
	}})
}

// ask has mcp-go's client make the call. It answers what the server asks, and adds headers.
func (c *connection) ask(ctx context.Context, tool string, token int64, ours *request) error {
	var r mcp.CallToolRequest
	r.Params.Name = tool
	if len(ours.call.Arguments) > 0 {
		r.Params.Arguments = ours.call.Arguments
	}
	meta, _ := json.Marshal(metaOf(ctx, token, ours)) // of texts
	r.Params.Meta = &mcp.Meta{}
	_ = json.Unmarshal(meta, r.Params.Meta)
	if !ours.call.Task {
		_, err := c.client.CallTool(ctx, r)
		return err
	}
	r.Params.Task = &mcp.TaskParams{}
	_, err := c.client.CallTool(ctx, r)
	var made struct{ Task struct{ TaskID string } }
	if ours.result != nil && json.Unmarshal(ours.result, &made) == nil && made.Task.TaskID != "" {
		var r mcp.TaskResultRequest
		r.Params.TaskId = made.Task.TaskID
		ours.result = nil
		if _, err = c.client.TaskResult(ctx, r); err != nil && ctx.Err() != nil {
			go c.cancelTask(context.WithoutCancel(ctx), r.Params.TaskId)
		}
	}
	return err
}

// cancelTask cancels a task whose result nobody waits for any more.
func (c *connection) cancelTask(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(ctx, replyTimeout)
	defer stop()
	var r mcp.CancelTaskRequest
	r.Params.TaskId = id
	_, _ = c.client.CancelTask(ctx, r) // it may have ended
}

func (p *pending) tellOne(n note) error {
	if p.Note != nil {
		p.Note(n.method, n.params)
		return nil
	}
	done, _ := n.params["progress"].(float64)
	total, _ := n.params["total"].(float64)
	return p.Progress(int64(done), int64(total), "")
}

// begin registers a call. Its token identifies it in progress notifications.
func (c *connection) begin(p *pending) (token int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	c.calls[c.tokens] = p
	return c.tokens
}

func (c *connection) end(token int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, token)
}

// notified handles a notification of the server. It never blocks, because the goroutine that reads messages calls it.
func (c *connection) notified(n mcp.JSONRPCNotification) {
	fields := n.Params.AdditionalFields
	switch n.Method {
	case "notifications/progress":
		token, _ := fields["progressToken"].(float64)
		c.mu.Lock()
		p := c.calls[int64(token)]
		c.mu.Unlock()
		if p != nil { // else the call has ended
			p.add(note{n.Method, fields})
		}
	case "notifications/message":
		if p := c.newestCall(); p != nil && p.Note != nil {
			p.add(note{n.Method, fields})
		}
	case mcp.MethodNotificationResourceUpdated:
		uri, _ := fields["uri"].(string)
		c.server.changed(n.Method, uri)
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged:
		c.server.outdate() // what is called next is compared with the new list
		go c.server.changed(n.Method, "")
	}
}

// newestCall returns the newest call in progress, or nil: a server does not say which call its log messages belong to.
func (c *connection) newestCall() *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return nil
	}
	return c.calls[slices.Max(slices.Collect(maps.Keys(c.calls)))]
}

func (s *server) changed(method, uri string) {
	if s.events != nil && s.events.Changed != nil {
		s.events.Changed(method, uri)
	}
}

// result is the result of tools/call. Unknown types of parts do not make it invalid.
type result struct {
	Type       string `json:"resultType"`
	Content    []part
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

// part is a part of a result. Which fields are set depends on Type.
type part struct {
	Type     string
	Text     string
	MimeType string
	Data     string
	Name     string
	URI      string
	Resource struct{ URI, MimeType, Text, Blob string }
}

// text returns what the model gets to read. Images and the like are replaced by a description.
func (r result) text() (string, error) {
	var all []string
	for _, p := range r.Content {
		if p.Type != "text" || !sameJSON(p.Text, r.Structured) { // servers repeat the structured content as text
			all = append(all, p.words())
		}
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		all = append(all, string(r.Structured))
	}
	text := strings.Join(all, "\n")
	if r.IsError {
		return "", messages.Errorf(messages.CauseError, "%s", text)
	}
	return text, nil
}

// words returns a part as text. Parts that are no text are described.
func (p part) words() string {
	switch p.Type {
	case "text":
		return p.Text
	case "image", "audio":
		return unseen(p.MimeType, p.Data)
	case "resource_link":
		return fmt.Sprintf("[the resource %s at %s]", p.Name, p.URI)
	case "resource":
		if p.Resource.Text != "" {
			return p.Resource.URI + ":\n" + p.Resource.Text
		}
		return p.Resource.URI + ": " + unseen(p.Resource.MimeType, p.Resource.Blob)
	}
	return fmt.Sprintf("[a part of the type %q, which cannot be shown]", p.Type)
}

// unseen describes a part that the model cannot see.
func unseen(kind, base64 string) string {
	return fmt.Sprintf("[%s of %d bytes, which you cannot see]", kind, len(strings.TrimRight(base64, "="))*3/4)
}

// sameJSON reports whether the text is the same JSON as doc.
func sameJSON(text string, doc json.RawMessage) bool {
	var a, b bytes.Buffer
	return len(doc) > 0 && json.Compact(&a, []byte(text)) == nil && json.Compact(&b, doc) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}
