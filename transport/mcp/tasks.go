package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/question"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// asTask reports whether the call is to be answered with a task. From 2026-07-28 the server decides, for clients that
// declared the extension in this very request; in 2025-11-25 the client does.
func (s *Server) asTask(x *wire.Exchange, t *JobTool, req mcp.CallToolRequest) (bool, *wire.Error) {
	if !x.Modern() {
		return asLegacyTask(x, t, req)
	}
	switch declared := x.Extension(caller.TasksExtension); {
	case t.Tasks == TasksRequired && !declared:
		return false, caller.NeedsTasks()
	default:
		return declared && t.Tasks != TasksForbidden, nil
	}
}

// replyTask answers the exchange with the run as a task, in the form of the client's protocol.
func (s *Server) replyTask(x *wire.Exchange, state messages.State) *mcp.CallToolResult {
	if x.Modern() {
		t := s.taskOf(state, x.Elicits())
		x.Reply(createTask{resultTask, named{s.implementation()}, t})
		return mcp.NewToolResultText("task " + string(t.ID))
	}
	s.hub.reportTask(x.Session(), state)
	t := s.taskOf(state, true).legacy()
	x.Reply(legacyCreated{t})
	return mcp.NewToolResultText("task " + string(t.ID))
}

// ReplyTask answers the call of the context with the run as a task, whatever its handler then returns, where the
// caller's protocol and capabilities allow it; it reports whether they do. For tools that start runs themselves.
func (s *Server) ReplyTask(ctx context.Context, state messages.State) bool {
	x := wire.From(ctx)
	if !x.Modern() || !x.Extension(caller.TasksExtension) {
		return false
	}
	s.replyTask(x, state)
	return true
}

// taskMethod does something with a task of the caller's.
type taskMethod func(context.Context, *wire.Exchange, messages.State, taskParams) (any, error)

// ofTask makes a method of what is done with one task of the caller's, in the eras that have it.
func (s *Server) ofTask(scope gate.Scope, modern, legacy taskMethod) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		do := legacy
		if x.Modern() {
			do = modern
		} else if !hasLegacyTasks(x) {
			do = nil
		}
		switch {
		case do == nil:
			return nil, caller.NoMethod()
		case x.Modern() && !x.Extension(caller.TasksExtension):
			return nil, caller.NeedsTasks()
		}
		if err := caller.May(ctx, scope); err != nil {
			return nil, caller.RPCError(err)
		}
		p, err := caller.Params[taskParams](x)
		if err != nil {
			return nil, caller.RPCError(err)
		}
		state, err := s.ownedTask(ctx, p.ID)
		if err != nil {
			return nil, caller.RPCError(err)
		}
		return do(ctx, x, state, p)
	}
}

// ownedTask returns the State of the caller's task. For everybody else there is none.
func (s *Server) ownedTask(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := s.Run(ctx, id)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return state, messages.Errorf(messages.CodeNotFound, "there is no task %q", id)
	}
	return state, err
}

// detailed is the whole of the task for a client that can ask its user, or not.
func (s *Server) detailed(ctx context.Context, state messages.State, elicits bool) detailedTask {
	d := detailedTask{task: s.taskOf(state, elicits)}
	switch d.Status {
	case taskCompleted:
		d.Result = s.Result(ctx, state)
	case taskFailed:
		d.Error = errorOf(state)
	case taskInput:
		d.Inputs = mcp.InputRequests{}
		for _, q := range caller.Questions(state) {
			d.Inputs[q.Request] = mcp.NewElicitationInputRequest(question.Elicitation(q))
		}
	}
	return d
}

func (s *Server) getTask(ctx context.Context, x *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	return s.detailed(ctx, state, x.Elicits()), nil
}

func (s *Server) updateTask(ctx context.Context, _ *wire.Exchange, state messages.State, p taskParams) (any, error) {
	bad, err := s.asker.Answer(ctx, state, p.Responses)
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, caller.RPCError(err)
	}
	return struct{}{}, nil
}

func (s *Server) cancelTask(ctx context.Context, _ *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	if err := s.runs.CancelOwn(ctx, state.RunID, "tasks/cancel"); err != nil {
		return nil, caller.RPCError(err)
	}
	return struct{}{}, nil
}
