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

// taskStatus is where a task stands, in both of the protocol's forms of tasks.
type taskStatus string

const (
	taskWorking   taskStatus = "working"
	taskInput     taskStatus = "input_required"
	taskCompleted taskStatus = "completed"
	taskFailed    taskStatus = "failed"
	taskCancelled taskStatus = "cancelled"
)

// resultTask is the type of a result that is a task.
const resultTask mcp.ResultType = "task"

// named is the _meta object that says which server a result is from.
type named struct {
	Server mcp.Implementation `json:"io.modelcontextprotocol/serverInfo"`
}

// task is a run as the tasks extension shows it.
type task struct {
	ID      messages.RunID `json:"taskId"`
	Status  taskStatus     `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created time.Time      `json:"createdAt"`
	Updated time.Time      `json:"lastUpdatedAt"`
	TTL     int64          `json:"ttlMs"`
	Poll    int64          `json:"pollIntervalMs"`
}

// createTask is the result of a call that became a task.
type createTask struct {
	Type mcp.ResultType `json:"resultType"`
	Meta named          `json:"_meta"`
	task
}

// Detailed is the whole of a task: what tasks/get answers, and notifications/tasks carries.
type Detailed struct {
	Meta map[string]any `json:"_meta,omitempty"`
	task
	Result *mcp.CallToolResult `json:"result,omitempty"`
	Error  *taskError          `json:"error,omitempty"`
	Inputs mcp.InputRequests   `json:"inputRequests,omitempty"`
}

// taskError is the JSON-RPC error that a call would have ended with.
type taskError struct {
	Code    int           `json:"code"`
	Message string        `json:"message"`
	Data    taskErrorData `json:"data"`
}

type taskErrorData struct {
	RunID messages.RunID `json:"run_id"`
	Cause messages.Code  `json:"cause"`
}

// Legacy is a run as the tasks of 2025-11-25 show it.
type Legacy struct {
	ID      messages.RunID `json:"taskId"`
	Status  taskStatus     `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created time.Time      `json:"createdAt"`
	Updated time.Time      `json:"lastUpdatedAt"`
	TTL     int64          `json:"ttl"`
	Poll    int64          `json:"pollInterval"`
}

// legacyCreated is the result of a call that became a task.
type legacyCreated struct {
	Task Legacy `json:"task"`
}

// legacyList is a page of tasks.
type legacyList struct {
	Tasks []Legacy `json:"tasks"`
	Next  string   `json:"nextCursor,omitempty"`
}

// taskParams are those of all methods about one task.
type taskParams struct {
	ID        messages.RunID             `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
}

// taskStatusOf says where the run stands as a task. A run is a failed task only where its end was not its own: an
// error of its work is a result.
func taskStatusOf(state messages.State) taskStatus {
	switch {
	case state.Status == messages.Canceled:
		return taskCancelled
	case state.Status == messages.Failed && fellOver(state.End.Cause):
		return taskFailed
	case state.Status.IsEnded():
		return taskCompleted
	case len(caller.Questions(state)) > 0:
		return taskInput
	}
	return taskWorking
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
	if shown.Status == taskInput && !elicits {
		shown.Status = taskWorking
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

// errorOf is the error of a failed task.
func errorOf(state messages.State) *taskError {
	message := "the run failed: " + string(state.End.Cause)
	if state.End.Error != nil {
		message = state.End.Error.Message
	}
	return &taskError{mcp.INTERNAL_ERROR, message, taskErrorData{state.RunID, state.End.Cause}}
}

// rpc is the error as the wire sends it.
func (e *taskError) rpc() *wire.Error {
	return &wire.Error{Code: e.Code, Message: e.Message, Data: e.Data}
}
