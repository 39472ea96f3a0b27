package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	// Ask asks the run's people a question of the server.
	Ask func(ctx context.Context, in messages.InputRequired) (json.RawMessage, error)
}

// pending is a call in progress. mu guards asked.
type pending struct {
	Call
	ctx      context.Context
	progress chan progress // holds only the latest

	mu    sync.Mutex
	asked map[string]int // how often each question was asked, by name
}

// progress is one progress report of a server.
type progress struct{ done, total int64 }

// call calls the tool. It fails if the tool is no longer what the model was told.
func (s *server) call(ctx context.Context, name, pin string, c Call) (string, error) {
	conn, err := s.connected(ctx, true)
	if err != nil {
		return "", s.failed(err)
	}
	now, err := conn.listed(ctx)
	if err != nil {
		return "", s.failed(err)
	}
	if d, ok := now[name]; !ok || d.pin() != pin {
		return "", messages.InvalidInput("the MCP server %s has changed or removed the tool %s since this turn began; "+
			"do without it, the next turn may call it again", s.Name, name)
	}
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = name, c.Arguments
	raw, err := conn.send(ctx, c, r)
	if errors.Is(err, transport.ErrSessionTerminated) {
		s.forget(conn)
	}
	if err != nil {
		return "", s.failed(err)
	}
	var got result
	if err := json.Unmarshal(raw, &got); err != nil {
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
func (c *connection) send(ctx context.Context, call Call, r mcp.CallToolRequest) (json.RawMessage, error) {
	p := &pending{Call: call, ctx: ctx, progress: make(chan progress, 1)}
	token := c.begin(p)
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		p.tell(over)
	}()
	r.Params.Meta = &mcp.Meta{ProgressToken: token, AdditionalFields: map[string]any{}}
	for name, value := range messages.TraceOf(ctx).Fields() {
		r.Params.Meta.AdditionalFields[name] = value
	}
	ours := &request{ctx: ctx, call: p}
	_, err := c.client.CallTool(context.WithValue(ctx, requestKey{}, ours), r)
	c.end(token)
	close(over)
	<-told
	var got result
	if err != nil && (ours.result == nil || json.Unmarshal(ours.result, &got) != nil || got.Type == "input_required") {
		return nil, err
	}
	return ours.result, nil
}

// tell passes on progress until the call has ended.
func (p *pending) tell(over <-chan struct{}) {
	for {
		select {
		case now := <-p.progress:
			if p.Progress(now.done, now.total, "") != nil {
				return
			}
		case <-over:
			return
		}
	}
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
	switch n.Method {
	case string(mcp.MethodNotificationToolsListChanged):
		c.stale.Store(true)
	case "notifications/progress":
		fields := n.Params.AdditionalFields
		token, _ := fields["progressToken"].(float64)
		c.mu.Lock()
		p := c.calls[int64(token)]
		c.mu.Unlock()
		if p == nil { // the call has ended
			return
		}
		done, _ := fields["progress"].(float64)
		total, _ := fields["total"].(float64)
		select {
		case <-p.progress:
		default:
		}
		select {
		case p.progress <- progress{int64(done), int64(total)}:
		default:
		}
	}
}
