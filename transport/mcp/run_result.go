package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
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
	RunID  messages.RunID `json:"run_id"`
	Job    string         `json:"job"`
	Status RunStatus      `json:"status"`
	// Seq is the number of the last event that is told here: the cursor to go on from.
	Seq    uint64          `json:"seq"`
	Result json.RawMessage `json:"result,omitempty"`
	// Degraded says that the result is less than was asked for.
	Degraded  bool           `json:"degraded,omitempty"`
	Cause     messages.Cause `json:"cause,omitempty"`
	Error     *RunError      `json:"error,omitempty"`
	Artifacts []RunArtifact  `json:"artifacts,omitempty"`
	// MoreArtifacts is how many more there are: the resource run://{id} has all.
	MoreArtifacts int           `json:"more_artifacts,omitempty"`
	Questions     []RunQuestion `json:"questions,omitempty"`
	// Terminal is the run's last event, which progress does not tell. Its artifacts are the same as these.
	Terminal *messages.Event `json:"terminal,omitempty"`
}

// runResultSchema is the JSON Schema of a RunResult. Every tool that tells of a run has it, and every client is told it
// for each: it says what a client may rely on, and no more.
const runResultSchema = `{"type":"object","required":["run_id","job","status","seq"],"properties":{` +
	`"run_id":{"type":"string"},"job":{"type":"string"},` +
	`"status":{"type":"string","enum":["working","waiting","completed","failed","canceled"]},` +
	`"seq":{"type":"integer"},"error":{"type":"object"},"artifacts":{"type":"array"},"questions":{"type":"array"},` +
	`"terminal":{"type":"object"}}}`

// RunError says how a run, or a call, failed.
type RunError struct {
	Code messages.Code `json:"code"`
	// Message says what happened and what to do.
	Message   string `json:"message"`
	Retryable bool   `json:"retryable,omitempty"`
}

// RunArtifact is a file that a run made.
type RunArtifact struct {
	Name string `json:"name"`
	// Path is where it is, slash-separated, relative to the job's output folder.
	Path    string `json:"path,omitempty"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Partial bool   `json:"partial,omitempty"`
	// URI is the resource to read it as.
	URI string `json:"uri"`
}

// RunQuestion is what a run waits to be told.
type RunQuestion struct {
	Request string `json:"request"`
	Prompt  string `json:"prompt"`
	// Schema is what the answer is held to, if anything.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Result is what a tool answers for a run: its structured content is the run's RunResult. A run that failed or was
// canceled is an error.
func (s *Server) Result(ctx context.Context, state messages.State) *Result {
	return s.result(state, s.terminal(ctx, state))
}

func (s *Server) result(state messages.State, terminal *messages.Event) *Result {
	run := runResult(state, terminal)
	r := &Result{Text: s.say(state), Structured: run,
		IsError: state.Status == messages.Failed || state.Status == messages.Canceled}
	for _, a := range run.Artifacts {
		r.Links = append(r.Links, Link{a.URI, a.Name, a.Bytes, a.Partial})
	}
	return r
}

// terminal reads the last event of an ended run: the State does not have its words.
func (s *Server) terminal(ctx context.Context, state messages.State) *messages.Event {
	if !state.Status.IsEnded() {
		return nil
	}
	for e, err := range s.runs.Events(ctx, state.RunID, state.Seq-1) {
		if err != nil || !e.IsTerminal() {
			break
		}
		return &e
	}
	return nil
}

func runResult(state messages.State, terminal *messages.Event) RunResult {
	r := RunResult{RunID: state.RunID, Job: jobOf(state), Status: statusOf(state), Seq: state.Seq, Terminal: terminal}
	artifacts, more := told(state.Artifacts)
	if r.MoreArtifacts = more; more > 0 && terminal != nil {
		r.Terminal = withArtifacts(*terminal, artifacts)
	}
	for _, a := range artifacts {
		r.Artifacts = append(r.Artifacts, RunArtifact{Name: a.Name, Path: a.Path, Bytes: a.Bytes, SHA256: a.SHA256,
			Partial: a.Partial, URI: ArtifactURI(state.RunID, a.Name)})
	}
	if end := state.End; end != nil {
		r.Result, r.Degraded, r.Cause, r.Error = end.Result, end.Degraded, end.Cause, runError(end.Error)
		return r
	}
	for _, in := range caller.Questions(state) {
		r.Questions = append(r.Questions, RunQuestion{in.Request, in.Prompt, in.Schema})
	}
	return r
}

// toldArtifacts is the most artifacts of one result: a model has to read it. A graph has a page for each package.
const toldArtifacts = 24

// told are the artifacts that a result tells of, those first that are in no folder, and how many more there are.
func told(all []messages.Artifact) (list []messages.Artifact, more int) {
	if len(all) <= toldArtifacts {
		return all, 0
	}
	list = slices.Clone(all)
	slices.SortStableFunc(list, func(a, b messages.Artifact) int {
		return cmp.Compare(strings.Count(a.Name, "/"), strings.Count(b.Name, "/"))
	})
	return list[:toldArtifacts], len(all) - toldArtifacts
}

// withArtifacts is the terminal with these artifacts in place of its own.
func withArtifacts(terminal messages.Event, list []messages.Artifact) *messages.Event {
	switch body := terminal.Body.(type) {
	case messages.RunCompleted:
		body.Artifacts = list
		terminal.Body = body
	case messages.RunFailed:
		body.Artifacts = list
		terminal.Body = body
	case messages.RunCanceled:
		body.Artifacts = list
		terminal.Body = body
	}
	return &terminal
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
