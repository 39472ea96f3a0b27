package source

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// rpcError is a JSON-RPC error of a server.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the server's message.
func (r *rpcError) Error() string { return r.Message }

// RPC returns the error as its server wrote it.
func (r *rpcError) RPC() json.RawMessage {
	text, _ := json.Marshal(r) // it was JSON
	return text
}

// refusedBy returns a JSON-RPC error as an rpcError.
func refusedBy(e *mcp.JSONRPCErrorDetails) *rpcError {
	r := &rpcError{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		r.Data, _ = json.Marshal(e.Data) // it was JSON
	}
	return r
}

// pass sends a request of one of the protocol's methods, and returns the result unparsed.
func (c *connection) pass(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.passed(ctx, &request{ctx: ctx}, method, params)
}

func (c *connection) passed(ctx context.Context, ours *request, method string, params json.RawMessage) (json.RawMessage, error) {
	send, into := c.sender(context.WithValue(ctx, requestKey{}, ours), method)
	if send == nil {
		return nil, &rpcError{Code: mcp.METHOD_NOT_FOUND, Message: "there is no method " + method}
	}
	if len(params) > 0 {
		if err := json.Unmarshal(params, into); err != nil {
			return nil, &rpcError{Code: mcp.INVALID_PARAMS, Message: "the parameters are not understood: " + err.Error()}
		}
		_ = json.Unmarshal(params, &ours.more) // they are an object
		maps.DeleteFunc(ours.more, func(name string, _ json.RawMessage) bool { return name != "inputResponses" && name != "requestState" })
	}
	err := send()
	if r, is := into.(*mcp.SubscribeParams); is && err == nil {
		c.subscribe(r.URI, true)
	} else if r, is := into.(*mcp.UnsubscribeParams); is && err == nil {
		c.subscribe(r.URI, false)
	} else if r, is := into.(*mcp.SetLevelParams); is && err == nil && c.standing.Version != "" {
		c.level.Store(string(r.Level))
	}
	switch {
	case ours.result != nil: // mcp-go may refuse what it does not know
		return ours.result, nil
	case ours.refused != nil:
		return nil, ours.refused
	case err == nil:
		return json.RawMessage(`{}`), nil // mcp-go did it without a request
	}
	return nil, err
}

// sender returns a function that sends a request of the method, and where its parameters are.
func (c *connection) sender(ctx context.Context, method string) (send func() error, params any) {
	switch method {
	case "tools/list":
		var r mcp.ListToolsRequest
		return func() (err error) { requestOf(ctx).valid, err = c.client.ListToolsByPage(ctx, r); return err }, &r.Params
	case "resources/list":
		var r mcp.ListResourcesRequest
		return func() error { _, err := c.client.ListResourcesByPage(ctx, r); return err }, &r.Params
	case "resources/templates/list":
		var r mcp.ListResourceTemplatesRequest
		return func() error { _, err := c.client.ListResourceTemplatesByPage(ctx, r); return err }, &r.Params
	case "resources/read":
		var r mcp.ReadResourceRequest
		return func() error { _, err := c.client.ReadResource(ctx, r); return err }, &r.Params
	case "resources/subscribe":
		var r mcp.SubscribeRequest
		//lint:ignore SA1019 servers of older versions need it
		return func() error { return c.client.Subscribe(ctx, r) }, &r.Params
	case "resources/unsubscribe":
		var r mcp.UnsubscribeRequest
		//lint:ignore SA1019 servers of older versions need it
		return func() error { return c.client.Unsubscribe(ctx, r) }, &r.Params
	case "prompts/list":
		var r mcp.ListPromptsRequest
		return func() error { _, err := c.client.ListPromptsByPage(ctx, r); return err }, &r.Params
	case "prompts/get":
		var r mcp.GetPromptRequest
		return func() error { _, err := c.client.GetPrompt(ctx, r); return err }, &r.Params
	case "completion/complete":
		var r mcp.CompleteRequest
		return func() error { _, err := c.client.Complete(ctx, r); return err }, &r.Params
	case "logging/setLevel":
		var r mcp.SetLevelRequest
		//lint:ignore SA1019 servers of older versions need it
		return func() error { return c.client.SetLevel(ctx, r) }, &r.Params
	}
	return nil, nil
}

// CreateMessage puts a request for sampling to the client.
func (c *connection) CreateMessage(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return asked[mcp.CreateMessageResult](ctx, c, mcp.MethodSamplingCreateMessage, r.CreateMessageParams)
}

// ListRoots asks the client for its roots.
func (c *connection) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return asked[mcp.ListRootsResult](ctx, c, mcp.MethodListRoots, struct{}{})
}

// asked puts a request of the server to the client whose call is going on, or to one of the principal's.
func asked[R any](ctx context.Context, c *connection, method mcp.MCPMethod, params any) (*R, error) {
	s := c.server
	if s.events == nil || s.events.Ask == nil {
		return nil, errors.New("there is no client to ask")
	}
	run := ""
	if p := c.caller(ctx); p != nil {
		run, ctx = p.Run, p.ctx
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer, err := s.events.Ask(ctx, s.principal, run, string(method), text)
	var refused interface{ RPC() json.RawMessage }
	if r := new(rpcError); errors.As(err, &refused) && json.Unmarshal(refused.RPC(), r) == nil {
		return nil, r
	}
	if err != nil {
		return nil, messages.Errorf(messages.CauseError, "the client does not answer %s: %v", method, err)
	}
	var result R
	return &result, json.Unmarshal(answer, &result)
}
