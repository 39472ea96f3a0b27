package mcp

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// TaskSupport says whether a tool is called as a task.
type TaskSupport string

// How tools are called as tasks.
const (
	TasksOptional  TaskSupport = ""          // where the client knows tasks
	TasksRequired  TaskSupport = "required"  // other clients get an error that says so
	TasksForbidden TaskSupport = "forbidden" // never
)

// JobTool is a job as a tool.
type JobTool struct {
	// Job is the job's name in the runtime.
	Job string
	// Name is the tool's; Job if empty.
	Name string
	// Title and Description tell people and models what the tool is for, and when to use it.
	Title, Description string
	// Input is the JSON Schema of the arguments, an object; any object if empty.
	Input json.RawMessage
	// Output is the JSON Schema of the run's result; any value if empty.
	Output json.RawMessage
	// What clients are told of the job's effects. The zero value writes without destroying and stays on this machine.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	Tasks                                        TaskSupport
	// Chunked says that the run's result is a list, {"chunks": [...]} or one value, which a caller may have streamed in
	// numbered chunks (stream: true or {"chunkDelayMs": n}, beside the arguments or in them).
	Chunked bool
	// Prepare makes the job's input of the arguments; nil takes them as they are. Its messages.Error is the caller's.
	Prepare func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)
	// Content says for people and models what the ended run came to; nil is a sentence and the result as JSON. The
	// structured content and the links to artifacts are beside it.
	Content func(ended messages.State) []mcp.Content
	Limits  messages.Limits
	// Mode says what becomes of the run when the caller leaves; if empty, what the caller's protocol says.
	Mode messages.Mode
}
