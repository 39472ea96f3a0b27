package lmstxt

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// record is what the tools say of a run. The fields from Stage on are new.
type record struct {
	RunID        messages.RunID  `json:"run_id"`
	Status       messages.Status `json:"status"`
	Artifacts    []file          `json:"artifacts"`
	ErrorMessage *string         `json:"error_message"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`

	Stage          *string   `json:"stage"`
	Progress       *progress `json:"progress"`
	UsedFallback   bool      `json:"used_fallback"`
	FallbackReason *string   `json:"fallback_reason"`
}

type file struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Bytes  int64  `json:"size_bytes"`
	SHA256 string `json:"hash_sha256"`
}

type progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
}

const recordSchema = `{"type":"object","required":["run_id","status","artifacts","error_message","created_at",` +
	`"updated_at","stage","progress","used_fallback","fallback_reason"],"properties":{` +
	`"run_id":{"type":"string","description":"the run, for these tools, for those named run_*, and for run:// ` +
	`resources"},"status":{"enum":["pending","processing","completed","failed","canceled"]},` +
	`"artifacts":{"type":"array","items":{"type":"object","required":["name","path","size_bytes","hash_sha256"],` +
	`"properties":{"name":{"type":"string","description":"what to give as artifact_name"},"path":{"type":"string"},` +
	`"size_bytes":{"type":"integer"},"hash_sha256":{"type":"string"}}}},"error_message":{"type":["string","null"]},` +
	`"created_at":{"type":"string","format":"date-time"},"updated_at":{"type":"string","format":"date-time"},` +
	`"stage":{"type":["string","null"],"description":"what is being done, or was last: fetch, configure, analyze, ` +
	`understand or write"},"progress":{"type":["object","null"],"required":["done"],"properties":{` +
	`"done":{"type":"integer"},"total":{"type":"integer","description":"missing where it is not known"},` +
	`"unit":{"type":"string"}},"description":"how far the stage is"},` +
	`"used_fallback":{"type":"boolean","description":"a model was asked for and failed: the files say what can be ` +
	`said without one"},"fallback_reason":{"type":["string","null"],"description":"why the model failed"}}}`

// input is what is read of the job's input.
type input struct {
	Repository string `json:"repository"`
	Out        string `json:"out"`
}

func inputOf(state messages.State) input {
	var in input
	if state.Queued != nil {
		_ = json.Unmarshal(state.Queued.Input, &in) // a job of that name has it
	}
	return in
}

func (d *door) recordOf(state messages.State) record {
	r := record{RunID: state.RunID, Status: state.Status, Artifacts: []file{},
		CreatedAt: state.QueuedAt.UTC(), UpdatedAt: state.UpdatedAt.UTC()}
	if r.Status == "" {
		r.Status = messages.Pending
	}
	folder := filepath.Join(d.shown, filepath.FromSlash(inputOf(state).Out))
	for _, a := range state.Artifacts {
		r.Artifacts = append(r.Artifacts, file{Name: a.Name, Path: filepath.Join(folder, filepath.FromSlash(a.Path)),
			Bytes: a.Bytes, SHA256: a.SHA256})
	}
	r.stage(state)
	r.end(state)
	return r
}

func (r *record) stage(state messages.State) {
	if len(state.Tasks) == 0 {
		return
	}
	task := state.Tasks[len(state.Tasks)-1].Name
	r.Stage = &task
	for _, p := range state.Progress {
		if p.Task == task {
			r.Progress = &progress{Done: p.Done, Total: p.Total, Unit: p.Unit}
		}
	}
}

func (r *record) end(state messages.State) {
	end := state.End
	switch {
	case end == nil:
	case end.Error != nil:
		r.ErrorMessage = &end.Error.Message
	case state.Status == messages.Canceled:
		r.ErrorMessage = new("the run was canceled")
	case end.Degraded:
		var said result
		_ = json.Unmarshal(end.Result, &said)
		r.UsedFallback, r.FallbackReason = true, new(string(said.Cause))
	}
}
