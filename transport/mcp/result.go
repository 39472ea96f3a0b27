package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// RunStatus is where a run stands, as clients are told.
type RunStatus string

// A run is working until it waits for an answer, or has ended for ever.
const (
	Working   RunStatus = "working"
	Waiting   RunStatus = "waiting"
	Completed RunStatus = RunStatus(messages.Completed)
	Failed    RunStatus = RunStatus(messages.Failed)
	Canceled  RunStatus = RunStatus(messages.Canceled)
)

// RunResult is what every tool says of a run: its structured content. Fields are only ever added.
type RunResult struct {
	RunID     messages.RunID  `json:"run_id" jsonschema:"The run's id, by which run_* tools and run:// resources know it."`
	Job       string          `json:"job" jsonschema:"What kind of work the run does."`
	Status    RunStatus       `json:"status" jsonschema:"Where the run stands. The last three are for ever."`
	Seq       uint64          `json:"seq" jsonschema:"The number of the last event that is told here: the cursor to go on from."`
	Result    json.RawMessage `json:"result,omitempty" jsonschema:"What the completed run came to."`
	Degraded  bool            `json:"degraded,omitempty" jsonschema:"Whether the result is less than was asked for."`
	Cause     messages.Cause  `json:"cause,omitempty" jsonschema:"Why the run failed or was canceled."`
	Error     *RunError       `json:"error,omitempty" jsonschema:"How the run failed."`
	Artifacts []RunArtifact   `json:"artifacts,omitempty" jsonschema:"The files that the run made."`
	Questions []RunQuestion   `json:"questions,omitempty" jsonschema:"What the run waits to be told."`
	Terminal  *messages.Event `json:"terminal,omitempty" jsonschema:"The run's last event, whole. Progress does not tell it."`
}

// RunError says how a run, or a call, failed.
type RunError struct {
	Code      messages.Code `json:"code" jsonschema:"The kind of the failure, for programs."`
	Message   string        `json:"message" jsonschema:"What happened and what to do, for people."`
	Retryable bool          `json:"retryable,omitempty" jsonschema:"Whether the same call may succeed later."`
}

// RunArtifact is a file that a run made.
type RunArtifact struct {
	Name    string `json:"name" jsonschema:"What the job calls the file."`
	Path    string `json:"path,omitempty" jsonschema:"Where it is, relative to the job's output folder."`
	Bytes   int64  `json:"bytes" jsonschema:"Its size."`
	SHA256  string `json:"sha256" jsonschema:"The digest of its content, in lower-case hexadecimal."`
	Partial bool   `json:"partial,omitempty" jsonschema:"Whether it is only a first part of what it should have been."`
	URI     string `json:"uri" jsonschema:"The resource to read it as."`
}

// RunQuestion is what a run waits to be told.
type RunQuestion struct {
	Request string `json:"request" jsonschema:"The question's name in the run."`
	Prompt  string `json:"prompt" jsonschema:"The question."`
}

// Result is what a tool answers for a run: its structured content is the run's RunResult. A run that failed or was
// canceled is an error.
func (s *Server) Result(state messages.State) *mcp.CallToolResult {
	return s.result(state, s.terminal(state))
}

func (s *Server) result(state messages.State, terminal *messages.Event) *mcp.CallToolResult {
	content := s.say(state)
	for _, a := range state.Artifacts {
		content = append(content, linkTo(state.RunID, a))
	}
	return &mcp.CallToolResult{
		Content:           content,
		StructuredContent: runResult(state, terminal),
		IsError:           state.Status == messages.Failed || state.Status == messages.Canceled,
	}
}

// terminal reads the last event of an ended run: the State does not have its words.
func (s *Server) terminal(state messages.State) *messages.Event {
	if !state.Status.IsEnded() {
		return nil
	}
	for e, err := range s.config.Runs.Events(context.Background(), state.RunID, state.Seq-1) {
		if err != nil || !e.IsTerminal() {
			break
		}
		return &e
	}
	return nil
}

func runResult(state messages.State, terminal *messages.Event) RunResult {
	r := RunResult{RunID: state.RunID, Job: jobOf(state), Status: statusOf(state), Seq: state.Seq, Terminal: terminal}
	for _, a := range state.Artifacts {
		r.Artifacts = append(r.Artifacts, RunArtifact{Name: a.Name, Path: a.Path, Bytes: a.Bytes, SHA256: a.SHA256,
			Partial: a.Partial, URI: ArtifactURI(state.RunID, a.Name)})
	}
	if end := state.End; end != nil {
		r.Result, r.Degraded, r.Cause, r.Error = end.Result, end.Degraded, end.Cause, runError(end.Error)
		return r
	}
	for _, in := range questions(state) {
		r.Questions = append(r.Questions, RunQuestion{Request: in.Request, Prompt: in.Prompt})
	}
	return r
}

func runError(e *messages.Error) *RunError {
	if e == nil {
		return nil
	}
	return &RunError{Code: e.Code, Message: e.Message, Retryable: e.Retryable}
}

func statusOf(state messages.State) RunStatus {
	switch {
	case state.Status.IsEnded():
		return RunStatus(state.Status)
	case len(questions(state)) > 0:
		return Waiting
	}
	return Working
}

// questions are what the run waits to be told. One that is being canceled waits for nothing.
func questions(state messages.State) []messages.Input {
	if state.Status.IsEnded() || state.Canceling {
		return nil
	}
	var open []messages.Input
	for _, in := range state.Inputs {
		if !in.Closed {
			open = append(open, in)
		}
	}
	return open
}

func jobOf(state messages.State) string {
	if state.Queued == nil {
		return ""
	}
	return state.Queued.Job
}

func linkTo(id messages.RunID, a messages.Artifact) mcp.ResourceLink {
	description := fmt.Sprintf("%d bytes", a.Bytes)
	if a.Partial {
		description += ", partial"
	}
	link := mcp.NewResourceLink(ArtifactURI(id, a.Name), a.Name, description, MIMEType(a.Name))
	link.Size = &a.Bytes
	return link
}

// Failure is what a tool answers where the call itself failed: an error with the code and what to do, for programs as
// {"status": "failed", "error": {...}}. What is not a messages.Error is not for the caller to know.
func Failure(err error) *mcp.CallToolResult { return failure(err) }

func failure(err error) *mcp.CallToolResult {
	said := sayable(err)
	return &mcp.CallToolResult{
		Content: []mcp.Content{mcp.NewTextContent(said.Message)},
		StructuredContent: struct {
			Status RunStatus `json:"status"`
			Error  *RunError `json:"error"`
		}{Failed, said},
		IsError: true,
	}
}
