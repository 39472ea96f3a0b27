package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/schema"
	"github.com/seed889630bf/lastword/transport/mcp/task"
)

// TaskSupport says whether a tool is called as a task.
type TaskSupport = task.Support

// How tools are called as tasks.
const (
	TasksOptional  = task.Optional  // where the client knows tasks
	TasksRequired  = task.Required  // other clients get an error that says so
	TasksForbidden = task.Forbidden // never
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
	// The job's effects, for clients. The zero value writes without destroying and stays on this machine.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	Tasks                                        TaskSupport
	// Prepare makes the job's input of the arguments; nil takes them as they are. Its messages.Error is the caller's.
	Prepare func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)
	// Say says for people and models what the ended run came to; nil is the text that the run said, else a sentence and
	// the result as JSON. The structured content and the links to artifacts are beside it.
	Say    func(ended messages.State) string
	Limits messages.Limits
	// Mode says what becomes of the run when the caller leaves; if empty, what the caller's protocol says.
	Mode messages.Mode

	input *schema.Schema // what Input says
}

// AddJob makes the job a tool that can be called synchronously, streamed and as a task. Errors: invalid_input for a
// name or a schema that is no good, or a name that is taken. A job that the runtime does not have fails its calls.
func (s *Server) AddJob(t JobTool) error {
	if t.Job == "" {
		return messages.InvalidInput("the tool %q needs a job", t.Name)
	}
	t.Name = cmp.Or(t.Name, t.Job)
	tool, err := t.tool()
	if err != nil {
		return err
	}
	if err := s.addTool(tool, s.handler(&t)); err != nil {
		return err
	}
	s.jobs[t.Name] = &t
	return nil
}

// tool says what the job is as a tool, with all four annotations: what is left out means the worst.
func (t *JobTool) tool() (mcp.Tool, error) {
	if err := t.Compile(); err != nil {
		return mcp.Tool{}, err
	}
	output, err := withResult(t.Name, t.Output)
	if err != nil {
		return mcp.Tool{}, err
	}
	return mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		RawInputSchema: compact(t.Input), RawOutputSchema: output,
		Annotations: mcp.ToolAnnotation{ReadOnlyHint: &t.ReadOnly, DestructiveHint: &t.Destructive,
			IdempotentHint: &t.Idempotent, OpenWorldHint: &t.OpenWorld},
	}, nil
}

// Compile reads the schema of the arguments; AddJob does so if it has not been done. Errors: invalid_input.
func (t *JobTool) Compile() error {
	if t.input != nil {
		return nil
	}
	if len(t.Input) == 0 {
		t.Input = json.RawMessage(anyObject)
	}
	if err := legible(cmp.Or(t.Name, t.Job), t.Input); err != nil {
		return err
	}
	held, err := schema.Compile(t.Input)
	if err != nil {
		return messages.InvalidInput("the input schema of the tool %s is no good: %v", cmp.Or(t.Name, t.Job), err)
	}
	t.input = held
	return nil
}

func isToolName(name string) bool {
	const more = "_.-"
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	}
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, odd)
}
