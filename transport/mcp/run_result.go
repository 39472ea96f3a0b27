package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
)

// RunStatus is where a run stands, in the words of this door.
type RunStatus string

// A run is working until it waits for an answer, or has ended for ever.
const (
	Working   RunStatus = "working"
	Waiting   RunStatus = "waiting"
	Completed RunStatus = RunStatus(messages.Completed)
	Failed    RunStatus = RunStatus(messages.Failed)
	Canceled  RunStatus = RunStatus(messages.Canceled)
)

// RunResult is what every tool says of a run: its structured content, which is short because models read it. The
// resource run://{id} has the rest, such as digests. Fields are only ever added.
type RunResult struct {
	RunID  messages.RunID `json:"run_id"`
	Job    string         `json:"job"`
	Status RunStatus      `json:"status"`
	// Seq is the number of the last event that this result includes: the cursor to go on from.
	Seq uint64 `json:"seq"`
	// Message says what to do next.
	Message string          `json:"message,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	// Degraded says that the result is less than was asked for.
	Degraded  bool          `json:"degraded,omitempty"`
	Cause     messages.Code `json:"cause,omitempty"`
	Error     *RunError     `json:"error,omitempty"`
	Artifacts []RunArtifact `json:"artifacts,omitempty"`
	// MoreArtifacts is how many more there are: the resource run://{id} has all.
	MoreArtifacts int           `json:"more_artifacts,omitempty"`
	Questions     []RunQuestion `json:"questions,omitempty"`
}

// runResultSchema is the JSON Schema of a RunResult. Every tool that answers with a run has it, and clients get a
// copy for each: it says what they may rely on, and no more.
const runResultSchema = `{"type":"object","required":["run_id","job","status","seq"],"properties":{` +
	`"run_id":{"type":"string"},"job":{"type":"string"},` +
	`"status":{"type":"string","enum":["working","waiting","completed","failed","canceled"]},` +
	`"seq":{"type":"integer"},"message":{"type":"string"},"error":{"type":"object"},` +
	`"artifacts":{"type":"array","items":{"type":"object"}},"questions":{"type":"array","items":{"type":"object"}}}}`

// RunError says how a run, or a call, failed.
type RunError struct {
	Code messages.Code `json:"code"`
	// Message says what happened and what to do.
	Message   string `json:"message"`
	Retryable bool   `json:"retryable,omitempty"`
}

// RunArtifact is a file that a run made: run_read reads it by its name.
type RunArtifact struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Partial bool   `json:"partial,omitempty"`
}

// RunQuestion is a question that a run waits to have answered.
type RunQuestion struct {
	Request string `json:"request"`
	Prompt  string `json:"prompt"`
	// Schema is what the answer is held to, if anything.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Result is what a tool answers for a run: its structured content is the run's RunResult. A run that failed or was
// canceled is an error.
func (s *Server) Result(_ context.Context, state messages.State) *Result {
	run := runResult(state)
	run.Message = nextStep(state)
	r := &Result{Text: s.textOf(state), Structured: run,
		IsError: state.Status == messages.Failed || state.Status == messages.Canceled}
	for _, a := range run.Artifacts[:min(len(run.Artifacts), mostLinks)] {
		r.Links = append(r.Links, Link{ArtifactURI(state.RunID, a.Name), a.Name, a.Bytes, a.Partial})
	}
	return r
}

func runResult(state messages.State) RunResult {
	r := RunResult{RunID: state.RunID, Job: jobOf(state), Status: statusOf(state), Seq: state.Seq}
	r.Artifacts, r.MoreArtifacts = listedArtifacts(state.Artifacts)
	if end := state.End; end != nil {
		r.Result, r.Degraded, r.Cause, r.Error = end.Result, end.Degraded, end.Cause, runError(end.Error)
		return r
	}
	for _, in := range caller.Questions(state) {
		r.Questions = append(r.Questions, RunQuestion{in.Request, in.Prompt, in.Schema})
	}
	return r
}

// mostArtifacts is the most artifacts of one result: a model has to read it. A graph has a page for each package.
const mostArtifacts = 8

// mostLinks is the most links of one result: hosts that read texts give each to the model as JSON.
const mostLinks = 2

// listedArtifacts are the artifacts that a result lists, and how many more there are: those in folders where there is
// one that is in none, and those past the most.
func listedArtifacts(all []messages.Artifact) (list []RunArtifact, more int) {
	top := slices.ContainsFunc(all, func(a messages.Artifact) bool { return !strings.Contains(a.Name, "/") })
	for _, a := range all {
		if len(list) < mostArtifacts && !(top && strings.Contains(a.Name, "/")) {
			list = append(list, RunArtifact{a.Name, a.Bytes, a.Partial})
		}
	}
	return list, len(all) - len(list)
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
	case len(caller.Questions(state)) > 0:
		return Waiting
	}
	return Working
}

func jobOf(state messages.State) string {
	if state.Queued == nil {
		return ""
	}
	return state.Queued.Job
}
