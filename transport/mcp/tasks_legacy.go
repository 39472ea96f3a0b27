package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/question"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// legacyTasks is the version of the protocol that has tasks of its own, for which clients ask by params.task.
const legacyTasks = "2025-11-25"

// relatedTask is the key in _meta that says which task a message belongs to.
const relatedTask = "io.modelcontextprotocol/related-task"

// taskPage is how many tasks a page has.
const taskPage = 50

func hasLegacyTasks(x *wire.Exchange) bool { return !x.Modern() && x.Version() == legacyTasks }

func asLegacyTask(x *wire.Exchange, t *JobTool, req mcp.CallToolRequest) (bool, *wire.Error) {
	asked := hasLegacyTasks(x) && req.Params.Task != nil
	switch {
	case asked && t.Tasks == TasksForbidden:
		return false, &wire.Error{Code: mcp.METHOD_NOT_FOUND,
			Message: "the tool cannot be called as a task: leave out task"}
	case !asked && t.Tasks == TasksRequired:
		return false, &wire.Error{Code: mcp.METHOD_NOT_FOUND, Message: "the tool can only be called as a task"}
	}
	return asked, nil
}

func (s *Server) legacyGet(_ context.Context, x *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	return s.taskOf(state, x.Elicits()).legacy(), nil
}

// legacyCancel answers once the task is cancelled.
func (s *Server) legacyCancel(ctx context.Context, x *wire.Exchange, state messages.State, p taskParams) (any, error) {
	if state.Status.IsEnded() {
		return nil, caller.RPCError(caller.Invalid("task %s has ended: it is %s", state.RunID, taskStatusOf(state)))
	}
	if _, err := s.cancelTask(ctx, x, state, p); err != nil {
		return nil, err
	}
	state, err := s.runs.Follow(ctx, state, nil)
	if err != nil {
		return nil, caller.RPCError(err)
	}
	return s.taskOf(state, true).legacy(), nil
}

// legacyResult waits for the end of the task, asking the user what the run asks, and answers what the call would have.
func (s *Server) legacyResult(ctx context.Context, x *wire.Exchange, state messages.State, _ taskParams) (any, error) {
	for !state.Status.IsEnded() {
		var err error
		if state, _, err = s.watch(ctx, state.RunID, state.Seq); err != nil {
			return nil, caller.RPCError(err)
		}
		if len(caller.Questions(state)) == 0 {
			continue
		}
		if state, err = s.elicit(ctx, x, state); err != nil {
			return nil, caller.RPCError(err)
		}
	}
	if taskStatusOf(state) == taskFailed {
		return nil, errorOf(state).rpc()
	}
	r := s.Result(ctx, state)
	if r.Meta == nil {
		r.Meta = &mcp.Meta{}
	}
	r.Meta.SetMetaField(relatedTask, map[string]any{"taskId": state.RunID})
	return r, nil
}

// elicit gets a waiting run its answers from the client's user, or waits until they came some other way, as for a
// caller that may not answer.
func (s *Server) elicit(ctx context.Context, x *wire.Exchange, state messages.State) (messages.State, error) {
	if !x.Elicits() || caller.May(ctx, gate.WriteRuns) != nil {
		return s.runs.Follow(ctx, state, func(e messages.Event) bool {
			return e.Kind() == messages.KindInputReceived || e.Kind() == messages.KindRunCanceling
		})
	}
	open := caller.Questions(state)
	q := question.Elicitation(open[0])
	q.Meta = &mcp.Meta{AdditionalFields: map[string]any{relatedTask: map[string]any{"taskId": state.RunID}}}
	s.asker.AskUntil(ctx, x, state)
	answer, err := s.mcp.RequestElicitation(ctx, mcp.ElicitationRequest{
		Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: q})
	if err != nil {
		return state, err
	}
	if answer.Action == "" { // it was answered some other way, or the task has ended
		return s.runs.State(ctx, state.RunID)
	}
	response, _ := json.Marshal(answer)
	bad, err := s.asker.Answer(ctx, state, map[string]json.RawMessage{open[0].Request: response})
	if err == nil {
		err = bad
	}
	if err != nil {
		return state, err
	}
	return s.runs.State(ctx, state.RunID)
}

// legacyListTasks answers a page of the caller's tasks, those first that were made last.
func (s *Server) legacyListTasks(ctx context.Context, x *wire.Exchange) (any, error) {
	if !hasLegacyTasks(x) {
		return nil, caller.NoMethod()
	}
	if err := caller.May(ctx, gate.ReadRuns); err != nil {
		return nil, caller.RPCError(err)
	}
	p, err := caller.Params[struct {
		Cursor string `json:"cursor"`
	}](x)
	if err != nil {
		return nil, caller.RPCError(err)
	}
	q := messages.Query{ByQueued: true, Limit: taskPage + 1}
	if q.After, err = placeOf(p.Cursor); err != nil {
		return nil, caller.RPCError(err)
	}
	runs, err := s.Runs(ctx, q)
	if err != nil {
		return nil, caller.RPCError(err)
	}
	return s.legacyPage(ctx, runs)
}

// legacyPage is the page of the runs, which are a page and one more where there is another.
func (s *Server) legacyPage(ctx context.Context, runs []messages.Summary) (any, error) {
	list := legacyList{Tasks: []legacyTask{}}
	if len(runs) > taskPage {
		runs = runs[:taskPage]
		list.Next = cursorAt(runs[taskPage-1])
	}
	for _, r := range runs {
		state, err := s.runs.State(ctx, r.RunID)
		if messages.CodeOf(err) == messages.CodeNotFound { // the retention was quicker
			continue
		}
		if err != nil {
			return nil, caller.RPCError(err)
		}
		list.Tasks = append(list.Tasks, s.taskOf(state, true).legacy())
	}
	return list, nil
}

// cursorAt is the place in the list behind the run, which stays one when the run is forgotten.
func cursorAt(run messages.Summary) string {
	return strconv.FormatInt(run.QueuedAt.UnixNano(), 10) + "." + string(run.RunID)
}

func placeOf(cursor string) (*messages.Summary, error) {
	if cursor == "" {
		return nil, nil
	}
	at, id, ok := strings.Cut(cursor, ".")
	nanoseconds, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return nil, caller.Invalid("the cursor %q is not one that this server gave; begin without one", caller.Clip(cursor))
	}
	return &messages.Summary{RunID: messages.RunID(id), QueuedAt: time.Unix(0, nanoseconds)}, nil
}
