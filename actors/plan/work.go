package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/structured"
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
	r.keep(state)
	return endingOf(state)
}

// keep remembers the artifacts of a sub-run for steps that read.
func (r *runner) keep(s messages.State) {
	if len(s.Artifacts) > 0 {
		r.runs.Store(s.RunID, messages.State{RunID: s.RunID, Queued: s.Queued, Artifacts: s.Artifacts})
	}
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

// schema is the JSON Schema of the answer: yes or no if there is none.
func (a *Ask) schema() json.RawMessage {
	if a.Schema == nil {
		return json.RawMessage(`{"type":"boolean"}`)
	}
	schema, _ := json.Marshal(a.Schema) // it was read from JSON
	return schema
}

// mostAnswers is how often a question is asked until an answer fits its schema.
const mostAnswers = 10

// ask asks people, again if the answer does not fit. By default a no fails the step.
func (r *runner) ask(ctx context.Context, n *Step, m move) ending {
	prompt, ok := m.input.(string)
	if !ok {
		return invalid(fmt.Errorf("ask: the prompt is no text"))
	}
	in := messages.InputRequired{Request: childName(m), Prompt: prompt, Schema: n.Ask.schema(),
		TimeoutMS: time.Duration(n.Timeout).Milliseconds()}
	if n.Ask.Schema == nil {
		in.InputKind = messages.InputConfirmation
	}
	schema, err := structured.Compile(in.Schema)
	if err != nil {
		return invalid(err)
	}
	var problems string
	for try := 1; try <= mostAnswers; try++ {
		answer, err := r.task.Ask(ctx, in)
		if err != nil {
			return failedBy(err)
		}
		problems = strings.Join(schema.Problems(answer), "; ")
		if problems == "" {
			e := ending{outcome: Completed}
			_ = json.Unmarshal(answer, &e.result) // the schema has read it
			if e.result == false && n.Ask.Schema == nil {
				e.outcome, e.cause, e.message = Failed, messages.CauseCanceledByUser, "the answer was no"
			}
			return e
		}
		in.Request = fmt.Sprintf("%s?%d", childName(m), try+1)
		in.Prompt = fmt.Sprintf("%s (The answer did not fit: %s. Answer this request, %s.)", prompt, clipped(problems), in.Request)
	}
	return ending{outcome: Failed, cause: messages.CauseInvalidInput,
		message: fmt.Sprintf("%d answers did not fit: %s", mostAnswers, problems)}
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
	run, ok := known.(messages.State)
	if !ok && r.Runs != nil {
		var err error
		if run, err = r.Runs.State(ctx, in.Run); err != nil {
			return nil, err
		}
	}
	k := slices.IndexFunc(run.Artifacts, func(a messages.Artifact) bool { return a.Name == in.Name })
	switch {
	case r.Open == nil:
		return nil, messages.InvalidInput("plans cannot read here")
	case k < 0:
		return nil, messages.Errorf(messages.CodeNotFound, "the run %s wrote no %s", in.Run, in.Name)
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
