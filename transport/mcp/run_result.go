package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Statuses in results of tools beside the statuses of ended runs.
const (
	working messages.Status = "working"
	waiting messages.Status = "waiting" // for an answer
)

// RunResult is the structured content of every tool that returns a run. It is short because models read it; the
// resource run://{id} has the rest, such as digests. Later versions only add fields.
type RunResult struct {
	RunID  messages.RunID  `json:"run_id"`
	Job    string          `json:"job"`
	Status messages.Status `json:"status"`
	// Seq is the number of the last event that this result includes. A reader can continue from it.
	Seq uint64 `json:"seq"`
	// Message says what to do next.
	Message string          `json:"message,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	// Degraded says that the result lacks something that was asked for.
	Degraded  bool          `json:"degraded,omitempty"`
	Cause     messages.Code `json:"cause,omitempty"`
	Error     *RunError     `json:"error,omitempty"`
	Artifacts []RunArtifact `json:"artifacts,omitempty"`
	// MoreArtifacts is how many artifacts are not listed. The resource run://{id} has all.
	MoreArtifacts int           `json:"more_artifacts,omitempty"`
	Questions     []RunQuestion `json:"questions,omitempty"`
}

// runResultSchema is the JSON Schema of a RunResult. It contains only what clients may rely on, because each tool that
// returns a run repeats it.
const runResultSchema = `{"type":"object","required":["run_id","job","status","seq"],"properties":{` +
	`"run_id":{"type":"string"},"job":{"type":"string"},` +
	`"status":{"type":"string","enum":["working","waiting","completed","failed","canceled"]},` +
	`"seq":{"type":"integer"},"message":{"type":"string"},"error":{"type":"object"},` +
	`"artifacts":{"type":"array","items":{"type":"object"}},"questions":{"type":"array","items":{"type":"object"}}}}`

// RunError says why a run or a call failed.
type RunError struct {
	Code messages.Code `json:"code"`
	// Message says what happened and what to do.
	Message   string `json:"message"`
	Retryable bool   `json:"retryable,omitempty"`
	// Provider is what the model server said about its failure.
	Provider *messages.Provider `json:"provider,omitempty"`
}

// RunArtifact is a file of a run. The tool run_read reads it by its name.
type RunArtifact struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Partial bool   `json:"partial,omitempty"`
}

// RunQuestion is an open question of a run.
type RunQuestion struct {
	Request string `json:"request"`
	Prompt  string `json:"prompt"`
	// Schema is the JSON Schema of the answer, if there is one.
	Schema json.RawMessage `json:"schema,omitempty"`
	// AsksPerson says that the caller may not answer it; Page is where people do, if there is a page.
	AsksPerson bool   `json:"asks_person,omitempty"`
	Page       string `json:"page,omitempty"`
}

// Result returns a tool's answer for a run, with its RunResult as structured content. A run that failed or was canceled
// is an error.
func (s *Server) Result(ctx context.Context, state messages.State) *Result {
	run := RunResult{RunID: state.RunID, Job: state.Queued.Job, Status: statusOf(state), Seq: state.Seq, Message: nextStep(state)}
	run.Artifacts, run.MoreArtifacts = listedArtifacts(state.Artifacts)
	if end := state.End; end != nil {
		run.Result, run.Degraded, run.Cause = end.Result, end.Degraded, end.Cause
		if e := end.Error; e != nil {
			run.Error = &RunError{Code: e.Code, Message: e.Message, Retryable: e.Retryable, Provider: e.Provider}
		}
	}
	for _, in := range wire.Questions(state) { // a run that has ended has none
		q := RunQuestion{Request: in.Request, Prompt: in.Prompt, Schema: in.Schema}
		if q.AsksPerson = s.runs.MayAnswer(ctx, door.Agent, state, in.Request) != nil; q.AsksPerson && s.config.People != nil {
			if page := s.config.People(); page != "" {
				q.Page = page + "/runs/" + string(state.RunID)
			}
		}
		run.Questions = append(run.Questions, q)
	}
	if r := s.behind.result(state); r != nil {
		return &Result{content: r.Content, Structured: run, IsError: r.IsError}
	}
	r := &Result{Text: s.textOf(state), Structured: run, IsError: state.Status == messages.Failed || state.Status == messages.Canceled}
	for _, a := range run.Artifacts[:min(len(run.Artifacts), mostLinks)] {
		r.links = append(r.links, link{ArtifactURI(state.RunID, a.Name), a.Name, a.Bytes, a.Partial})
	}
	return r
}

// mostArtifacts is the maximum number of artifacts in a result, because a model has to read them. A run that draws a
// graph writes a page for each package.
const mostArtifacts = 8

// mostLinks is the maximum number of links in a result. Clients that read only text pass each link to the model as
// JSON.
const mostLinks = 2

// listedArtifacts returns the artifacts that a result lists, and how many more there are. If there are files outside
// folders, it omits those in folders.
func listedArtifacts(all []messages.Artifact) (list []RunArtifact, more int) {
	top := slices.ContainsFunc(all, func(a messages.Artifact) bool { return !strings.Contains(a.Name, "/") })
	for _, a := range all {
		if len(list) < mostArtifacts && !(top && strings.Contains(a.Name, "/")) {
			list = append(list, RunArtifact{a.Name, a.Bytes, a.Partial})
		}
	}
	return list, len(all) - len(list)
}

// statusOf returns the status as tools show it: a run that waits for an answer is waiting, not working.
func statusOf(state messages.State) messages.Status {
	switch {
	case state.Status.IsEnded():
		return state.Status
	case len(wire.Questions(state)) > 0:
		return waiting
	}
	return working
}
