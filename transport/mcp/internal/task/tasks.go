package task

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Support says whether a tool can be called as a task.
type Support string

// Values of Support.
const (
	Optional  Support = ""          // as a task if the client supports tasks
	Required  Support = "required"  // only as a task; other clients get an error
	Forbidden Support = "forbidden" // never as a task
)

// Config configures Tasks.
type Config struct {
	Runs  wire.Runs
	Asker *Asker
	// Result returns what the call of the run would have returned.
	Result func(ctx context.Context, state messages.State) *mcp.CallToolResult
	// Fault returns the JSON-RPC error that the call of the run would have got, or nil.
	Fault func(ctx context.Context, state messages.State) *wire.Error
	// Follow sends the events after the cursor as progress until the run ends. It asks the user what the run asks.
	Follow func(ctx context.Context, id messages.RunID, cur cursor.Cursor) (messages.State, error)
	// Poll is the interval at which clients should ask. Retention is how long after the end they can.
	Poll, Retention time.Duration
}

// Tasks shows runs as tasks. It keeps no state: a task is a run, found by its id.
type Tasks struct {
	config Config
	runs   wire.Runs
}

// New returns Tasks with the configuration.
func New(config Config) *Tasks { return &Tasks{config, config.Runs} }

// Methods returns the handlers of the protocol's methods about tasks.
func (t *Tasks) Methods() map[string]wire.Method {
	return map[string]wire.Method{
		"tasks/get":    t.ofTask(auth.ReadRuns, t.getTask, t.legacyGet),
		"tasks/update": t.ofTask(auth.AnswerRuns, t.updateTask, nil),
		"tasks/cancel": t.ofTask(auth.WriteRuns, t.cancelTask, t.legacyCancel),
		"tasks/result": t.ofTask(auth.ReadRuns, nil, t.legacyResult),
		"tasks/list":   t.legacyListTasks,
	}
}

// Wanted reports whether the call should be answered with a task. From 2026-07-28 on, the server decides, for clients
// that declared the extension in this request. In 2025-11-25, the client decides.
func Wanted(x *wire.Exchange, support Support, req mcp.CallToolRequest) (bool, *wire.Error) {
	declared, asked := x.Extension(wire.TasksExtension), AskedLegacy(x, req)
	switch {
	case x.Modern() && support == Required && !declared:
		return false, wire.NeedsTasks()
	case x.Modern():
		return declared && support != Forbidden, nil
	case asked && support == Forbidden:
		return false, &wire.Error{Code: mcp.METHOD_NOT_FOUND, Message: "the tool cannot be called as a task: leave out task"}
	case !asked && support == Required:
		return false, &wire.Error{Code: mcp.METHOD_NOT_FOUND, Message: "the tool can only be called as a task"}
	}
	return asked, nil
}

// Reply answers the exchange with the run as a task, in the form of the client's protocol version.
func (t *Tasks) Reply(x *wire.Exchange, state messages.State) *mcp.CallToolResult {
	if x.Modern() {
		x.Reply(createTask{"task", t.taskOf(state, x.Elicits())})
	} else {
		x.Reply(map[string]any{"task": t.Legacy(state)})
	}
	return mcp.NewToolResultText("task " + string(state.RunID))
}

// taskMethod handles a method for one task of the caller.
type taskMethod func(context.Context, *wire.Exchange, messages.State, taskParams) (any, error)

// ofTask returns the handler of a method for one task, with an implementation for each form of the protocol. nil means
// that the form does not have the method.
func (t *Tasks) ofTask(scope auth.Scope, modern, legacy taskMethod) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		do := legacy
		if x.Modern() {
			do = modern
		} else if !HasLegacy(x) {
			do = nil
		}
		switch {
		case do == nil:
			return nil, wire.NoMethod()
		case x.Modern() && !x.Extension(wire.TasksExtension):
			return nil, wire.NeedsTasks()
		}
		if err := wire.Require(ctx, scope); err != nil {
			return nil, err
		}
		p, err := wire.Params[taskParams](x)
		if err != nil {
			return nil, err
		}
		state, err := t.runs.Own(ctx, p.ID)
		switch {
		case messages.CodeOf(err) == messages.CodeNotFound:
			return nil, messages.Errorf(messages.CodeNotFound, "there is no task %q", p.ID)
		case err != nil:
			return nil, err
		}
		return do(ctx, x, state, p)
	}
}

// News returns the params of notifications/tasks about a task, and its status with the names of its open questions.
func (t *Tasks) News(ctx context.Context, state messages.State, elicits bool, meta map[string]any) (params any, status string) {
	d := t.detailed(ctx, state, elicits)
	d.Meta = meta
	return d, string(d.Status) + " " + strings.Join(slices.Sorted(maps.Keys(d.Inputs)), " ")
}

// detailed returns the task with its result or its open questions. elicits says whether the client can ask its user.
func (t *Tasks) detailed(ctx context.Context, state messages.State, elicits bool) Detailed {
	d := Detailed{task: t.taskOf(state, elicits)}
	if d.Error = t.config.Fault(ctx, state); d.Error != nil {
		d.Status = mcp.TaskStatusFailed
		return d
	}
	switch d.Status {
	case mcp.TaskStatusCompleted:
		d.Result = t.config.Result(ctx, state)
	case mcp.TaskStatusFailed:
		d.Error = errorOf(state)
	case mcp.TaskStatusInputRequired:
		d.Inputs = mcp.InputRequests{}
		for _, q := range wire.Questions(state) {
			d.Inputs[q.Request] = mcp.NewElicitationInputRequest(Elicitation(q))
		}
	}
	return d
}

func (t *Tasks) getTask(ctx context.Context, x *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	d := t.detailed(ctx, state, x.Elicits())
	if wishes := t.config.Asker.Wishes(x, state.RunID); len(wishes) > 0 && !state.Status.IsEnded() {
		maps.Copy(wishes, d.Inputs)
		d.Status, d.Inputs = mcp.TaskStatusInputRequired, wishes
	}
	return d, nil
}

// updateTask passes answers on to the task's questions.
func (t *Tasks) updateTask(ctx context.Context, _ *wire.Exchange, state messages.State, p taskParams) (any, error) {
	_, bad, err := t.config.Asker.Answer(ctx, state, p.Responses)
	return struct{}{}, cmp.Or(err, bad)
}

func (t *Tasks) cancelTask(ctx context.Context, _ *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	return struct{}{}, t.runs.Cancel(ctx, state.RunID, "tasks/cancel")
}
