package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// StartOptions are what a caller may choose for a run.
type StartOptions struct {
	Labels map[string]string
	// Key makes the start idempotent: the caller's next start with the same key returns the same run.
	Key  string
	Mode messages.Mode // "" means the tool's default, else detached
	// Budget bounds what the run spends, with its sub-runs.
	Budget messages.Budget
	Busy   messages.Busy // as in a messages.Request
	// session, if not nil, ends an attached run when it ends. Without it, whoever watches the run ends it.
	session *wire.Session
	caller  string // for the callerLabel
}

// Start starts the tool's job for the caller in ctx, with arguments that a model has written. It returns the State once
// the run is in the journal. The end of ctx does not end an attached run; whoever watches the run does that. Errors:
// forbidden, not_found, invalid_input, and the runtime's errors.
func (s *Server) Start(ctx context.Context, tool string, arguments json.RawMessage, o StartOptions) (messages.State, error) {
	return s.start(ctx, tool, arguments, o, s.runs.StartByModel)
}

// StartJob is like Start, but takes the job's whole input. It is for inputs that no model has written.
func (s *Server) StartJob(ctx context.Context, tool string, input json.RawMessage, o StartOptions) (messages.State, error) {
	return s.start(ctx, tool, input, o, s.runs.Start)
}

func (s *Server) start(ctx context.Context, tool string, input json.RawMessage, o StartOptions,
	start func(context.Context, messages.Request) (messages.RunID, error)) (messages.State, error) {
	if err := wire.Require(ctx, auth.WriteRuns); err != nil {
		return messages.State{}, err
	}
	t := s.jobs[tool]
	if t == nil {
		return messages.State{}, messages.Errorf(messages.CodeNotFound, "there is no tool %q that starts a run", tool)
	}
	labels := map[string]string{}
	maps.Copy(labels, o.Labels)
	labels[toolLabel] = t.Name
	lasting := context.WithoutCancel(ctx)
	if o.session != nil {
		o.caller = o.session.Mark(nil)
		bound, cancel := context.WithCancel(lasting)
		context.AfterFunc(o.session.Life(), cancel)
		lasting = bound
	}
	if o.caller != "" {
		labels[callerLabel] = o.caller
	}
	id, err := start(lasting, messages.Request{Job: t.Job, Input: input, Mode: cmp.Or(o.Mode, t.about.Mode), Labels: labels, Key: o.Key, Busy: o.Busy,
		Limits: messages.Limits{Budget: o.Budget}})
	if err != nil {
		return messages.State{}, err
	}
	state, err := s.runs.State(lasting, id)
	if err == nil {
		s.hub.Started(state)
	}
	return state, err
}

// handler returns the handler of calls of the tool.
func (s *Server) handler(t *JobTool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.call(ctx, t, req)
		if err == nil {
			return result, nil
		}
		if task.AskedLegacy(wire.From(ctx), req) {
			visible := visibleError(err)
			wire.Fail(ctx, messages.Errorf(visible.Code, "%s", visible.Message))
		}
		return s.failed(ctx, t.Name, err).library(), nil
	}
}

// call handles a call. If it is the second round of an earlier call, it continues that call's run. This needs the same
// scope as a start, because it answers questions.
func (s *Server) call(ctx context.Context, t *JobTool, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := wire.Require(ctx, auth.WriteRuns); err != nil {
		return nil, err
	}
	again, err := s.asker.Resume(ctx, req)
	if err != nil {
		return nil, err
	}
	if again != nil {
		state, err := s.runs.State(ctx, again.Run)
		if err != nil {
			return nil, err
		}
		return s.conclude(ctx, req, *again, cursor.Cursor{Seq: again.After}, state.Queued.Mode)
	}
	return s.run(ctx, wire.From(ctx), t, req)
}

// run starts a run and returns its result, or a task.
func (s *Server) run(ctx context.Context, x *wire.Exchange, t *JobTool, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	asTask, refused := task.Wanted(x, t.Tasks, req)
	if refused != nil {
		x.Fail(refused)
		return &mcp.CallToolResult{}, nil
	}
	o, err := metadata(x)
	if err != nil {
		return nil, err
	}
	if o.Mode = modeOf(x, t, asTask); !asTask {
		o.caller = x.Session().Mark(x.ID())
	}
	state, err := s.Start(ctx, t.Name, req.Params.RawArguments, o)
	switch {
	case err != nil:
		return nil, err
	case asTask:
		if !x.Modern() {
			s.hub.ReportTask(ctx, x.Session(), state) // a session also gets notifications of the status
		}
		return s.tasks.Reply(x, state), nil
	}
	return s.conclude(ctx, req, task.Resumed{Run: state.RunID}, cursor.Cursor{}, state.Queued.Mode)
}

// metadata returns what a call's _meta says of its run, with the names of other protocols' metadata.
func metadata(x *wire.Exchange) (o StartOptions, err error) {
	if x.Meta() == nil {
		return o, nil
	}
	var meta struct {
		Busy   messages.Busy   `json:"lastword.busy"`
		Budget json.RawMessage `json:"lastword.budget"`
	}
	if err := json.Unmarshal(x.Meta(), &meta); err != nil {
		return o, messages.InvalidInput("_meta cannot be read: %v", err)
	}
	o.Busy = meta.Busy
	o.Budget, err = messages.ReadBudget(meta.Budget)
	return o, err
}

// modeOf returns the mode of a run: whether it ends when its caller leaves. Closing the stream means "cancel" from
// 2026-07-28 on, and meant nothing before.
func modeOf(x *wire.Exchange, t *JobTool, task bool) messages.Mode {
	switch {
	case t.about.Mode != "":
		return t.about.Mode
	case x.Modern() && !task:
		return messages.Attached
	}
	return messages.Detached
}

// conclude follows the run from the cursor on. It returns the run's result, or its open questions.
func (s *Server) conclude(ctx context.Context, req mcp.CallToolRequest, r task.Resumed, cur cursor.Cursor,
	mode messages.Mode) (*mcp.CallToolResult, error) {
	state, terminal, err := s.follow(ctx, streamCall, r.Run, cur)
	if ctx.Err() != nil {
		s.leave(ctx, r.Run, mode)
	}
	if err != nil {
		return nil, err
	}
	x := wire.From(ctx)
	if x.Modern() && x.Elicits() && !r.Unanswered && len(wire.Questions(state)) > 0 {
		return s.asker.Required(ctx, req, state), nil
	}
	return s.streamed(ctx, state, terminal).library(), nil
}

// streamed returns the result of a run whose events were sent as progress. It includes the terminal event, which was
// not sent.
func (s *Server) streamed(ctx context.Context, state messages.State, terminal *messages.Event) *Result {
	r := s.Result(ctx, state)
	if wire.From(ctx).ProgressToken() != nil {
		r.terminal = terminal
	}
	return r
}

// leave cancels the run of a call that has ended before the run. It does so if the client cancelled the call or, for an
// attached run, if the client has left.
func (s *Server) leave(ctx context.Context, id messages.RunID, mode messages.Mode) {
	cause := context.Cause(ctx)
	said := errors.Is(cause, wire.ErrCanceled) && !errors.Is(cause, wire.ErrDisconnected)
	if !said && mode != messages.Attached {
		return
	}
	s.cancel(ctx, id, cause)
}

func (s *Server) cancel(ctx context.Context, id messages.RunID, cause error) {
	lasting, done := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer done()
	if err := s.runs.Cancel(lasting, id, cause.Error()); err != nil {
		s.config.Log.Warn("cancel", zap.String("run", string(id)), zap.Error(err))
	}
}

// callerLabel is the label of a run that its caller's cancel ends, whichever process hears of that: the mark of the call, or of
// the session of an attached run.
const callerLabel = "mcp.caller"

// withoutCaller returns the labels that clients have a use for.
func withoutCaller(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	delete(labels, callerLabel)
	return labels
}

// ended cancels the runs of the caller that have the mark. A call of a server behind that took longer than its client may wait
// has been answered, and goes on.
func (s *Server) ended(ctx context.Context, mark string, cause error) {
	list, err := s.runs.Door.Runs.List(ctx, messages.Query{Principal: auth.From(ctx).Name, Labels: map[string]string{callerLabel: mark},
		Status: []messages.Status{messages.Pending, messages.Processing}})
	if err != nil {
		s.config.Log.Warn("a cancel finds no run", zap.Error(err))
	}
	for _, run := range list {
		if run.Job != wrapJob || s.behind == nil || time.Since(run.QueuedAt) < s.behind.Wait {
			s.cancel(ctx, run.RunID, cause)
		}
	}
}

// ReplyTask answers the call in ctx with the run as a task, whatever the handler returns afterwards. It returns false
// if the caller's protocol version or capabilities do not allow that. It is for tools that start runs themselves.
func (s *Server) ReplyTask(ctx context.Context, state messages.State) bool {
	x := wire.From(ctx)
	if !x.Modern() || !x.Extension(wire.TasksExtension) {
		return false
	}
	s.tasks.Reply(x, state)
	return true
}
