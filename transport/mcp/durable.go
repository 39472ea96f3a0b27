package mcp

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Durable returns a middleware of mcp-go that makes each call of a tool a run of the job tool:
//
//	srv.Use(mcp.Durable(system, "files"))
//
// The log of the run has the arguments, the progress, the log messages and the result. The run goes on when the request
// has ended, and a crash of its handler ends it alone. Anyone who cancels the run ends the context of the handler. name stands
// for the server in the log. The System needs [durable.Tools]; without them each call is an error. After a crash of the
// program a run that has not ended ends with node_lost; [Serve] makes calls again.
//
// [durable.Tools]: https://pkg.go.dev/github.com/seed889630bf/lastword/actors/durable#Tools
func Durable(system Runs, name string) server.ToolHandlerMiddleware {
	runs := wire.Runs{Door: door.New(door.Config{Runs: system, Jobs: system.Jobs()})}
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if wrapped.Inside(ctx) { // Serve has made the run
				return next(ctx, r)
			}
			h := &handled{ctx: ctx, server: server.ServerFromContext(ctx), request: r, next: next, done: make(chan returned, 1)}
			return h.run(runs, name)
		}
	}
}

// handled is a call of a handler by a run. ctx is the request's.
type handled struct {
	ctx     context.Context
	server  *server.MCPServer
	request mcp.CallToolRequest
	next    server.ToolHandlerFunc
	done    chan returned
}

// returned is what a handler has returned.
type returned struct {
	result *mcp.CallToolResult
	err    error
}

// run starts the run, and returns what the handler returns once that is in the log.
func (h *handled) run(runs wire.Runs, name string) (*mcp.CallToolResult, error) {
	id := wrapped.Put(h.call)
	state, err := h.start(runs, name, id)
	if err != nil {
		wrapped.Drop(id)
		return nil, err
	}
	if state, err = runs.Until(h.ctx, state, nil); err != nil {
		return nil, err
	}
	wrapped.Drop(id)
	select {
	case a := <-h.done:
		if a.err != nil || state.Status == messages.Completed {
			return a.result, a.err
		}
	default:
	}
	return (&Result{Text: sentence(state), IsError: true}).library(), nil
}

func (h *handled) start(runs wire.Runs, name, id string) (messages.State, error) {
	input := wrapped.Input{Server: name, Tool: h.request.Params.Name, Here: id}
	var err error
	if input.Arguments, err = json.Marshal(h.request.GetRawArguments()); err != nil {
		return messages.State{}, err
	}
	if h.server != nil {
		if t := h.server.GetTool(input.Tool); t != nil {
			if input.Shown, err = json.Marshal(t.Tool); err != nil {
				return messages.State{}, err
			}
			input.Shown = shownOf(input.Shown)
		}
	}
	return startCall(h.ctx, runs, input, "")
}

// call calls the handler for its run, with a context that has the values of the request's and ends with the run's.
func (h *handled) call(ctx context.Context, c wrapped.Call) (json.RawMessage, error) {
	inner, stop := context.WithCancelCause(context.WithoutCancel(h.ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	flush := func() {}
	if of := server.ClientSessionFromContext(h.ctx); of != nil && h.server != nil {
		session := h.session(of, c)
		defer session.Close()
		inner, flush = h.server.WithContext(inner, session), session.Flush
	}
	result, err := h.next(inner, h.request)
	flush()
	h.done <- returned{result, err}
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// session returns a session that does what the request's does, and tells the run what the handler says.
func (h *handled) session(of server.ClientSession, c wrapped.Call) *source.Session {
	session := source.NewSession(of.SessionID(), source.Host{Sampling: h, Elicitation: h, Roots: h}, func(n mcp.JSONRPCNotification) {
		source.Note(c, n.Method, n.Params.AdditionalFields)
		_ = h.server.SendNotificationToClient(h.ctx, n.Method, n.Params.AdditionalFields) // the client may have left
	})
	session.Initialize()
	if of, ok := of.(server.SessionWithLogging); ok {
		session.SetLogLevel(of.GetLogLevel())
	}
	if of, ok := of.(server.SessionWithClientInfo); ok {
		session.SetClientInfo(of.GetClientInfo())
		session.SetClientCapabilities(of.GetClientCapabilities())
	}
	return session
}

// CreateMessage asks the request's client.
func (h *handled) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	//lint:ignore SA1019 handlers that sample go on to do so
	return h.server.RequestSampling(h.ctx, r)
}

// Elicit asks the request's client.
func (h *handled) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return h.server.RequestElicitation(h.ctx, r)
}

// ListRoots asks the request's client.
func (h *handled) ListRoots(_ context.Context, r mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return h.server.RequestRoots(h.ctx, r)
}
