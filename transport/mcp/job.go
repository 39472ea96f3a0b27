package mcp

import (
	"cmp"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/internal/task"
)

// TaskSupport says whether a tool can be called as a task. Zero: as a task if the client supports tasks.
type TaskSupport = task.Support

// Values of TaskSupport.
const (
	TasksRequired  = task.Required  // only as a task; other clients get an error
	TasksForbidden = task.Forbidden // never as a task
)

// JobTool offers a job of the runtime as a tool. Its description and the schema of its arguments come from the
// runtime's description of the job.
type JobTool struct {
	// Job is the name of the job.
	Job string
	// Name is the name of the tool; the default is Job.
	Name  string
	Tasks TaskSupport

	about messages.JobSpec
}

// AddJob offers a job as a tool. Errors: invalid_input for an unknown job, an invalid name or schema, or a name that is
// taken.
func (s *Server) AddJob(t JobTool) error {
	job, err := s.runs.Job(t.Job)
	if err != nil {
		return err
	}
	t.Name, t.about = cmp.Or(t.Name, t.Job), job.JobSpec
	if err := s.runs.CheckSchema(t.Job); err != nil {
		return messages.InvalidInput("the input schema of the tool %s is not valid: %v", t.Name, err)
	}
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

// tool returns the tool as clients see it. It sets all four annotations, because clients assume the worst of those that
// are missing.
func (t *JobTool) tool() (mcp.Tool, error) {
	a := &t.about
	input := a.ModelInput.JSON()
	if a.ModelInput == nil {
		input = a.Input.JSON()
	}
	output, err := withResult(t.Name, a.Output.JSON())
	if err != nil {
		return mcp.Tool{}, err
	}
	return Tool{Name: t.Name, Title: a.Title, Description: a.Description, Input: compact(input), Output: output,
		ReadOnly: a.ReadOnly, Destructive: a.Destructive, Idempotent: a.Idempotent, OpenWorld: a.OpenWorld}.tool()
}
