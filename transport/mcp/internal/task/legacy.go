package task

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// LegacyVersion is the protocol version with built-in tasks, which clients request by params.task.
const LegacyVersion = "2025-11-25"

// relatedTask is the key in _meta that says which task a message belongs to.
const relatedTask = "io.modelcontextprotocol/related-task"

// taskPage is the number of tasks on a page.
const taskPage = 50

// HasLegacy reports whether the client uses that version.
func HasLegacy(x *wire.Exchange) bool { return !x.Modern() && x.Version() == LegacyVersion }

// AskedLegacy reports whether a client of that version asks for a task. Such a client understands only a task or a
// JSON-RPC error as the response; it would not show a tool result that describes an error.
func AskedLegacy(x *wire.Exchange, req mcp.CallToolRequest) bool {
	return HasLegacy(x) && req.Params.Task != nil
}

func (t *Tasks) legacyGet(_ context.Context, x *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	return Legacy(t.taskOf(state, x.Elicits())), nil
}

// legacyCancel handles tasks/cancel. It answers when the task is cancelled.
func (t *Tasks) legacyCancel(ctx context.Context, x *wire.Exchange, state messages.State, p taskParams) (any, error) {
	if state.Status.IsEnded() {
		return nil, messages.InvalidInput("task %s has ended: it is %s", state.RunID, taskStatusOf(state))
	}
	if _, err := t.cancelTask(ctx, x, state, p); err != nil {
		return nil, err
	}
	state, err := t.runs.Until(ctx, state, nil)
	if err != nil {
		return nil, err
	}
	return t.Legacy(state), nil
}

func (t *Tasks) legacyResult(ctx context.Context, _ *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	return t.Await(ctx, state, cursor.At(state))
}

// Await waits for the end of the task, and asks the user what the run asks. It returns what the call itself would have
// returned. Events after the cursor are sent as progress.
func (t *Tasks) Await(ctx context.Context, state messages.State, cur cursor.Cursor) (any, error) {
	state, err := t.config.Follow(ctx, state.RunID, cur)
	if err != nil {
		return nil, err
	}
	if fault := t.config.Fault(ctx, state); fault != nil {
		return nil, fault
	}
	if taskStatusOf(state) == mcp.TaskStatusFailed {
		return nil, errorOf(state)
	}
	r := t.config.Result(ctx, state)
	if r.Meta == nil {
		r.Meta = &mcp.Meta{}
	}
	r.Meta.SetMetaField(relatedTask, map[string]any{"taskId": state.RunID})
	return r, nil
}

// Related returns the _meta object of a message that belongs to the task.
func Related(id messages.RunID) *mcp.Meta {
	return &mcp.Meta{AdditionalFields: map[string]any{relatedTask: map[string]any{"taskId": id}}}
}

// legacyListTasks returns a page of the caller's tasks, the newest first.
func (t *Tasks) legacyListTasks(ctx context.Context, x *wire.Exchange) (any, error) {
	if !HasLegacy(x) {
		return nil, wire.NoMethod()
	}
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	p, err := wire.Params[struct {
		Cursor string `json:"cursor"`
	}](x)
	if err != nil {
		return nil, err
	}
	runs, next, err := t.runs.Page(ctx, messages.Query{Limit: taskPage}, p.Cursor)
	if err != nil {
		return nil, err
	}
	tasks := []any{}
	for _, r := range runs {
		state, err := t.runs.State(ctx, r.RunID)
		if messages.CodeOf(err) == messages.CodeNotFound { // the run was removed in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t.Legacy(state))
	}
	page := map[string]any{"tasks": tasks}
	if next != "" {
		page["nextCursor"] = next
	}
	return page, nil
}
