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

// Call is a call of a tool.
type Call struct {
	// ID of the call and Run name who calls.
	ID, Run   string
	Arguments json.RawMessage
	// Progress says how far the call is. It is not called after the call.
	Progress func(done, total int64, unit string) error
	// Ask asks people what the server wants to know.
	Ask func(ctx context.Context, in messages.InputRequired) (json.RawMessage, error)
}

// pending is a call that goes on.
type pending struct {
	Call
	ctx      context.Context
	progress chan progress // the latest

	mu    sync.Mutex
	asked map[string]int // how often, by name
}

type progress struct{ done, total int64 }

// call calls the tool, if it still is what the model was told of.
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

// failed says of which server an error is.
func (s *server) failed(err error) error {
	code := cmp.Or(messages.CodeOf(err), messages.CauseError)
	if wrapped, ok := errors.AsType[*transport.Error](err); ok {
		err = wrapped.Unwrap() // its own words say nothing
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

// tell hands on the progress until the call is over.
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

// notified never waits: the loop that reads the server's messages calls it.
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
		if p == nil { // of a call that is over
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
