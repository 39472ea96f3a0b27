package task

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// task is a run as the tasks extension shows it.
type task struct {
	ID      messages.RunID `json:"taskId"`
	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created time.Time      `json:"createdAt"`
	Updated time.Time      `json:"lastUpdatedAt"`
	TTL     int64          `json:"ttlMs"`
	Poll    int64          `json:"pollIntervalMs"`
}

// createTask is the result of a call that became a task.
type createTask struct {
	Type mcp.ResultType `json:"resultType"`
	task
}

// Detailed is the whole of a task: what tasks/get answers, and notifications/tasks carries.
type Detailed struct {
	Meta map[string]any `json:"_meta,omitempty"`
	task
	Result *mcp.CallToolResult `json:"result,omitempty"`
	Error  *wire.Error         `json:"error,omitempty"`
	Inputs mcp.InputRequests   `json:"inputRequests,omitempty"`
}

// Legacy is a run as the tasks of 2025-11-25 show it.
type Legacy struct {
	ID      messages.RunID `json:"taskId"`
	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created time.Time      `json:"createdAt"`
	Updated time.Time      `json:"lastUpdatedAt"`
	TTL     int64          `json:"ttl"`
	Poll    int64          `json:"pollInterval"`
}

// taskParams are those of all methods about one task.
type taskParams struct {
	ID        messages.RunID             `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
}

// taskStatusOf says where the run stands as a task. A run is a failed task only where its end was not its own: an
// error of its work is a result.
func taskStatusOf(state messages.State) mcp.TaskStatus {
	switch {
	case state.Status == messages.Canceled:
		return mcp.TaskStatusCancelled
	case state.Status == messages.Failed && fellOver(state.End.Cause):
		return mcp.TaskStatusFailed
	case state.Status.IsEnded():
		return mcp.TaskStatusCompleted
	case len(caller.Questions(state)) > 0:
		return mcp.TaskStatusInputRequired
	}
	return mcp.TaskStatusWorking
}

// fellOver reports whether the cause is one that the supervisor found, and not the work.
func fellOver(c messages.Code) bool {
	switch c {
	case messages.CausePanic, messages.CauseNodeLost, messages.CauseShutdown, messages.CauseStalled,
		messages.CauseInjected:
		return true
	}
	return false
}

// taskOf is the run as a task for a client that can ask its user, or not: for one that cannot, a task that waits is
// at work, with words that say what to do.
func (t *Tasks) taskOf(state messages.State, elicits bool) task {
	shown := task{ID: state.RunID, Status: taskStatusOf(state), Message: statusMessage(state), Created: state.QueuedAt,
		Updated: state.UpdatedAt, TTL: t.config.Retention.Milliseconds(), Poll: max(1, t.config.Poll.Milliseconds())}
	if shown.Status == mcp.TaskStatusInputRequired && !elicits {
		shown.Status = mcp.TaskStatusWorking
		shown.Message += " (answer with the tool run_answer)"
	}
	return shown
}

// Legacy is the run as a task of 2025-11-25.
func (t *Tasks) Legacy(state messages.State) Legacy { return Legacy(t.taskOf(state, true)) }

// statusMessage is one sentence on where the run stands, or "".
func statusMessage(state messages.State) string {
	switch {
	case state.Status.IsEnded():
		return Why(state.End)
	case state.Canceling:
		return "canceling"
	}
	if open := caller.Questions(state); len(open) > 0 {
		return "waits for an answer: " + open[0].Prompt
	}
	for i := len(state.Tasks) - 1; i >= 0; i-- {
		if state.Tasks[i].Status == messages.TaskRunning {
			return state.Tasks[i].Name
		}
	}
	return ""
}

// Why says how a run came to its end: the cause, and the error's message where there is one.
func Why(end *messages.End) string {
	switch {
	case end == nil:
		return ""
	case end.Error != nil:
		return string(end.Cause) + ": " + strings.TrimSuffix(end.Error.Message, ".")
	}
	return string(end.Cause)
}

// errorOf is the JSON-RPC error that the call of a failed task would have ended with.
func errorOf(state messages.State) *wire.Error {
	message := "the run failed: " + string(state.End.Cause)
	if state.End.Error != nil {
		message = state.End.Error.Message
	}
	return &wire.Error{Code: mcp.INTERNAL_ERROR, Message: message, Data: map[string]any{"run_id": state.RunID, "cause": state.End.Cause}}
}
