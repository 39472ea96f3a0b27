package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// childName is the name under which every attempt finds the sub-run of a start.
func childName(m move) string { return fmt.Sprintf("%s#%d", m.name, m.start) }

// work does a unit's work, and says what became of it. ctx ends when the unit is cancelled.
func (r *runner) work(ctx context.Context, m move) ending {
	n := &r.core.steps[m.unit.step]
	if n.Ask != nil {
		return r.ask(ctx, n.Step, m)
	}
	job, err := r.job(n.Step, m.input)
	if err != nil {
		return failedBy(err)
	}
	limits := messages.Limits{WallClockMS: time.Duration(n.Timeout).Milliseconds()}
	run, err := r.task.Start(ctx, job, actors.Options{Key: childName(m), Limits: limits})
	if err != nil {
		return failedBy(err)
	}
	stop := context.AfterFunc(ctx, func() {
		if r.ctx.Err() == nil { // else the attempt ends, and the next one goes on with the sub-run
			_ = run.Cancel(r.ctx, context.Cause(ctx).Error())
		}
	})
	defer stop()
	state, err := run.Wait(r.ctx)
	if err != nil {
		return failedBy(err)
	}
	if len(state.Artifacts) > 0 {
		r.runs.Store(state.RunID, messages.State{RunID: state.RunID, Queued: state.Queued, Artifacts: state.Artifacts})
	}
	return endingOf(state)
}

func failedBy(err error) ending {
	e := ending{outcome: Failed, cause: messages.Cause(messages.CodeOf(err)), message: err.Error()}
	if e.cause == messages.CauseCanceledByUser {
		e.outcome = Canceled
	}
	return e
}

// endingOf is what became of a sub-run.
func endingOf(s messages.State) ending {
	e := ending{outcome: Outcome(s.Status), cause: s.End.Cause, run: s.RunID,
		seconds: s.End.At.Sub(s.QueuedAt).Seconds()}
	if s.End.Error != nil {
		e.message = s.End.Error.Message
	} else if s.Status == messages.Canceled {
		e.message = "the run was cancelled"
	}
	if len(s.End.Result) > 0 {
		_ = json.Unmarshal(s.End.Result, &e.result) // it is JSON, as the runtime wrote it
	}
	for _, a := range s.Artifacts {
		e.artifacts = append(e.artifacts,
			map[string]any{"name": a.Name, "path": a.Path, "bytes": int(a.Bytes), "sha256": a.SHA256})
	}
	return e
}

// job is what a step starts.
func (r *runner) job(n *Step, input any) (actors.Job, error) {
	if n.Plan != nil {
		params, _ := input.(map[string]any)
		return Job(Input{Plan: n.Plan, Params: params}, r.Config)
	}
	data, err := json.Marshal(input)
	if err != nil {
		return actors.Job{}, messages.InvalidInput("the input is not JSON: %v", err)
	}
	switch {
	case n.Read != nil:
		return actors.Func("read", r.read)(data)
	case n.Write != nil:
		return r.write(data)
	}
	return r.Jobs[n.Job].New(data)
}

// ask asks people. By default a no fails the step.
func (r *runner) ask(ctx context.Context, n *Step, m move) ending {
	prompt, ok := m.input.(string)
	if !ok {
		return invalid(fmt.Errorf("ask: the prompt is no text"))
	}
	in := messages.InputRequired{Request: childName(m), Prompt: prompt,
		TimeoutMS: time.Duration(n.Timeout).Milliseconds()}
	if n.Ask.Schema == nil {
		in.InputKind, in.Schema = messages.InputConfirmation, json.RawMessage(`{"type":"boolean"}`)
	} else {
		schema, err := json.Marshal(n.Ask.Schema)
		if err != nil {
			return failedBy(err)
		}
		in.Schema = schema
	}
	answer, err := r.task.Ask(ctx, in)
	if err != nil {
		return failedBy(err)
	}
	e := ending{outcome: Completed}
	_ = json.Unmarshal(answer, &e.result) // a door has checked it
	if e.result == false && n.Ask.Schema == nil {
		e.outcome, e.cause, e.message = Failed, messages.CauseCanceledByUser, "the answer was no"
	}
	return e
}

// reading is the input of a step that reads.
type reading struct {
	Run  messages.RunID `json:"run"`
	Name string         `json:"name"`
}

// mostRead bounds what a step reads, because it is the result of a run.
const mostRead = messages.MaxEventBytes / 4

func (r *runner) read(ctx context.Context, _ *actors.TaskContext, in reading) (map[string]string, error) {
	known, _ := r.runs.Load(in.Run)
	run, _ := known.(messages.State)
	k := slices.IndexFunc(run.Artifacts, func(a messages.Artifact) bool { return a.Name == in.Name })
	switch {
	case r.Open == nil:
		return nil, messages.InvalidInput("plans cannot read here")
	case k < 0:
		return nil, messages.Errorf(messages.CodeNotFound, "no step of this plan wrote %s in the run %s", in.Name, in.Run)
	}
	f, err := r.Open(ctx, run, run.Artifacts[k])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostRead+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostRead {
		return nil, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
			"the artifact %s has more than %d bytes, and a step reads no more", in.Name, mostRead)
	}
	return map[string]string{"text": string(data)}, nil
}
