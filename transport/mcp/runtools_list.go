package mcp

import (
	"cmp"
	"context"

	"github.com/seed889630bf/lastword/messages"
)

// runListSchema is the JSON Schema of a list of runs.
const runListSchema = `{"type":"object","required":["runs"],"properties":{"runs":{"type":"array","items":{` +
	`"type":"object","required":["run_id","job","status","seq","queued_at","updated_at"]}}}}`

// listedRun is a run in a list, with the status of a [RunResult].
type listedRun struct {
	messages.Summary
	Status    RunStatus `json:"status"`
	Principal string    `json:"principal,omitempty"` // always the caller, so it is left empty
}

// runList lists the caller's runs. It cannot tell waiting runs apart without reading each, so it lists them as working.
func (s *Server) runList(ctx context.Context, a runArguments) (*Result, error) {
	q := messages.Query{Job: a.Job, Limit: cmp.Or(int(a.Limit), 20)}
	if t := s.jobs[a.Job]; t != nil {
		q.Job = t.Job
	}
	switch a.Status {
	case "":
	case Working:
		q.Status = []messages.Status{messages.Pending, messages.Processing}
	default:
		q.Status = []messages.Status{messages.Status(a.Status)}
	}
	list, err := s.Runs(ctx, q)
	if err != nil {
		return nil, err
	}
	runs := make([]listedRun, len(list))
	for i, run := range list {
		runs[i] = listedRun{Summary: run, Status: statusOf(messages.State{Status: run.Status})}
	}
	return Structured(map[string]any{"runs": runs})
}
