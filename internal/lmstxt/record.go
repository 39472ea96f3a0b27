package lmstxt

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// record describes a run in results of the tools. The fields from StartedRunID on are new, and are omitted if they are
// empty.
type record struct {
	// RunID is the run that the caller named, or this one.
	RunID        messages.RunID  `json:"run_id"`
	Status       messages.Status `json:"status"`
	Artifacts    []file          `json:"artifacts"`
	ErrorMessage *string         `json:"error_message"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`

	// StartedRunID is this run, if the caller named an earlier one.
	StartedRunID messages.RunID `json:"started_run_id,omitempty"`
	// Stage is the current or last task: fetch, configure, analyze, understand or write. Progress is the progress of
	// that task.
	Stage    string    `json:"stage,omitempty"`
	Progress *progress `json:"progress,omitempty"`
	// UsedFallback says that a model was requested and failed, so that the files were written without it.
	UsedFallback   bool          `json:"used_fallback,omitempty"`
	FallbackReason messages.Code `json:"fallback_reason,omitempty"`
}

// file is a file of a record. Path is the place on the server's machine. A log has only a name and a URI, because it is
// written for each of its readers.
type file struct {
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`
	Bytes  int64  `json:"size_bytes,omitempty"`
	SHA256 string `json:"hash_sha256,omitempty"`
	URI    string `json:"uri"` // the URI of the resource
}

// progress is how far the current task is.
type progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

// recordSchema is the JSON Schema of a record.
const recordSchema = `{"type":"object","required":["run_id","status","artifacts","error_message","created_at",` +
	`"updated_at"],"properties":{"run_id":{"type":"string"},"status":{"type":"string"},` +
	`"artifacts":{"type":"array","items":{"type":"object"}},"error_message":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`

// input holds those members of the job's input that are read here.
type input struct {
	Repository string `json:"repository"`
	Out        string `json:"out"`
}

// inputOf returns the input of a run of generate.
func inputOf(state messages.State) input {
	var in input
	if state.Queued != nil {
		_ = json.Unmarshal(state.Queued.Input, &in) // every input of generate has this form
	}
	return in
}

// recordOf returns a run in the form of the earlier server.
func (d *door) recordOf(state messages.State) record {
	r := record{RunID: firstOf(state.RunID, state.Queued.Labels), Status: state.Status, Artifacts: []file{},
		CreatedAt: state.QueuedAt.UTC(), UpdatedAt: state.UpdatedAt.UTC()}
	if r.RunID != state.RunID {
		r.StartedRunID = state.RunID
	}
	if r.Status == "" || r.Status == messages.Pending {
		r.Status = messages.Processing // as the earlier server did: clients poll until the status changes
	}
	folder := filepath.Join(d.shown, filepath.FromSlash(inputOf(state).Out))
	for _, a := range state.Artifacts {
		if isPage(a) {
			continue // the earlier server's records had none; lmstxt_list_graph_artifacts lists them
		}
		r.Artifacts = append(r.Artifacts, file{Name: a.Name, Path: filepath.Join(folder, filepath.FromSlash(a.Path)),
			Bytes: a.Bytes, SHA256: a.SHA256, URI: mcp.ArtifactURI(state.RunID, a.Name)})
	}
	for _, name := range []string{logName, eventsName} {
		r.Artifacts = append(r.Artifacts, file{Name: name, URI: runScheme + url.PathEscape(string(state.RunID)) + "/" + name})
	}
	r.stage(state)
	r.end(state)
	return r
}

// stage sets the last task and its progress.
func (r *record) stage(state messages.State) {
	if len(state.Tasks) == 0 {
		return
	}
	task := state.Tasks[len(state.Tasks)-1].Name
	r.Stage = task
	for _, p := range state.Progress {
		if p.Task == task {
			r.Progress = &progress{Done: p.Done, Total: p.Total, Unit: p.Unit}
		}
	}
}

// end sets the error, or says that a run without one used its fallback.
func (r *record) end(state messages.State) {
	end := state.End
	switch {
	case end == nil:
	case end.Error != nil:
		r.ErrorMessage = &end.Error.Message
	case state.Status == messages.Canceled:
		r.ErrorMessage = new("the run was canceled")
	case end.Degraded:
		var decoded struct {
			Cause messages.Code `json:"degraded_cause"`
		}
		_ = json.Unmarshal(end.Result, &decoded)
		r.UsedFallback, r.FallbackReason = true, decoded.Cause
	}
}
