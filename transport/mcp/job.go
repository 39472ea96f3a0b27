package mcp

import (
	"cmp"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/fit"
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

// JobTool is a job of the runtime as a tool. What clients are told of it, and what its arguments are held to, is what
// the runtime knows of the job.
type JobTool struct {
	// Job is the job's name in the runtime.
	Job string
	// Name is the tool's; Job if empty.
	Name  string
	Tasks TaskSupport

	about messages.About
	input *fit.Schema // what models may say
}

// AddJob makes the job a tool that can be called synchronously, streamed and as a task. Errors: invalid_input for a job
// that the runtime does not have, a name or a schema that is no good, or a name that is taken.
func (s *Server) AddJob(t JobTool) error {
	job, err := s.runs.Job(t.Job)
	if err != nil {
		return err
	}
	t.Name, t.about = cmp.Or(t.Name, t.Job), job.About
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
	a := &t.about
	input := a.Models.JSON()
	if a.Models == nil {
		input = a.Input.JSON()
	}
	var err error
	if t.input, err = fit.Compile(input); err != nil {
		return mcp.Tool{}, messages.InvalidInput("the input schema of the tool %s is no good: %v", t.Name, err)
	}
	output, err := withResult(t.Name, a.Output.JSON())
	if err != nil {
		return mcp.Tool{}, err
	}
	return Tool{Name: t.Name, Title: a.Title, Description: a.Description, Input: compact(input), Output: output,
		ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld}.tool()
}
