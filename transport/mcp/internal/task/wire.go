package task

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// task is a run in the form of the tasks extension.
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

// Detailed is all of a task, as tasks/get returns and notifications/tasks carries it.
type Detailed struct {
	Meta map[string]any `json:"_meta,omitempty"`
	task
	Result *mcp.CallToolResult `json:"result,omitempty"`
	Error  *wire.Error         `json:"error,omitempty"`
	Inputs mcp.InputRequests   `json:"inputRequests,omitempty"`
}

// Legacy is a run in the form of the tasks of 2025-11-25.
type Legacy struct {
	ID      messages.RunID `json:"taskId"`
	Status  mcp.TaskStatus `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created time.Time      `json:"createdAt"`
	Updated time.Time      `json:"lastUpdatedAt"`
	TTL     int64          `json:"ttl"`
	Poll    int64          `json:"pollInterval"`
}

// taskParams are the parameters of all methods for one task.
type taskParams struct {
	ID        messages.RunID             `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
}

// taskStatusOf returns the status of the run as a task. A task is "failed" only if the run ended for a reason outside
// its work; an error of the work itself is a result.
func taskStatusOf(state messages.State) mcp.TaskStatus {
	switch {
	case state.Status == messages.Canceled:
		return mcp.TaskStatusCancelled
	case state.Status == messages.Failed && slices.Contains(outside, state.End.Cause):
		return mcp.TaskStatusFailed
	case state.Status.IsEnded():
		return mcp.TaskStatusCompleted
	case len(Questions(state)) > 0:
		return mcp.TaskStatusInputRequired
	}
	return mcp.TaskStatusWorking
}

// outside are the causes that lie outside a run's work.
var outside = []messages.Code{messages.CausePanic, messages.CauseNodeLost, messages.CauseShutdown, messages.CauseStalled,
	messages.CauseInjected}

// taskOf returns the run as a task. If the client cannot ask its user, a waiting task is shown as working, with a
// message that says how to answer.
func (t *Tasks) taskOf(state messages.State, elicits bool) task {
	shown := task{ID: state.RunID, Status: taskStatusOf(state), Message: statusMessage(state), Created: state.QueuedAt,
		Updated: state.UpdatedAt, TTL: t.config.Retention.Milliseconds(), Poll: max(1, t.config.Poll.Milliseconds())}
	if shown.Status == mcp.TaskStatusInputRequired && !elicits {
		shown.Status = mcp.TaskStatusWorking
		shown.Message += " (answer with the tool run_answer)"
	}
	return shown
}

// Legacy returns the run as a task of 2025-11-25.
func (t *Tasks) Legacy(state messages.State) Legacy { return Legacy(t.taskOf(state, true)) }

// statusMessage returns one sentence on the state of the run, or "".
func statusMessage(state messages.State) string {
	switch {
	case state.Status.IsEnded():
		return Why(state.End)
	case state.Canceling:
		return "canceling"
	}
	if open := Questions(state); len(open) > 0 {
		return "waits for an answer: " + open[0].Prompt
	}
	for i := len(state.Tasks) - 1; i >= 0; i-- {
		if state.Tasks[i].Status == messages.TaskRunning {
			return state.Tasks[i].Name
		}
	}
	return ""
}

// Why says how a run ended: the cause, and the error's message if there is one.
func Why(end *messages.End) string {
	if end.Error != nil {
		return string(end.Cause) + ": " + strings.TrimSuffix(end.Error.Message, ".")
	}
	return string(end.Cause)
}

// errorOf returns the JSON-RPC error that the call of a failed task would have ended with.
func errorOf(state messages.State) *wire.Error {
	message := "the run failed: " + string(state.End.Cause)
	if state.End.Error != nil {
		message = state.End.Error.Message
	}
	return &wire.Error{Code: mcp.INTERNAL_ERROR, Message: message, Data: map[string]any{"run_id": state.RunID, "cause": state.End.Cause}}
}
