package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// childName returns the name by which every attempt finds the sub-run of a start.
func childName(m move) string { return fmt.Sprintf("%s#%d", m.name, m.start) }

// work does a unit's work, and returns its ending. ctx ends when the unit is cancelled.
func (r *runner) work(ctx context.Context, m move) ending {
	n := &r.core.steps[m.unit.step]
	if n.Ask != nil {
		return r.ask(ctx, n.Step, m)
	}
	if n.Receive != nil {
		return r.receive(ctx, n.Step, m)
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
		if r.ctx.Err() == nil { // otherwise the attempt ends, and the next one continues with the sub-run
			_ = run.Cancel(r.ctx, context.Cause(ctx).Error())
		}
	})
	defer stop()
	state, err := run.Wait(r.ctx)
	if err != nil {
		return failedBy(err)
	}
	return endingOf(state)
}

func failedBy(err error) ending {
	e := ending{outcome: failed, cause: messages.CodeOf(err), message: err.Error()}
	if e.cause == messages.CauseCanceledByUser {
		e.outcome = canceled
	}
	return e
}

// endingOf returns the ending of a unit from its sub-run's State.
func endingOf(s messages.State) ending {
	e := ending{outcome: Outcome(s.Status), cause: s.End.Cause, run: s.RunID,
		seconds: s.End.At.Sub(s.QueuedAt).Seconds()}
	switch {
	case s.End.Error != nil:
		e.message = s.End.Error.Message
	case s.Status == messages.Canceled:
		e.message = "the run was cancelled"
	case s.End.Degraded:
		e.message = cmp.Or(model.EndOf(s).Lack(), "its result lacks something that was asked for")
	}
	if len(s.End.Result) > 0 {
		_ = json.Unmarshal(s.End.Result, &e.result) // the runtime wrote it as JSON
	}
	for _, a := range s.Artifacts {
		e.artifacts = append(e.artifacts,
			map[string]any{"name": a.Name, "path": a.Path, "bytes": int(a.Bytes), "sha256": a.SHA256})
	}
	return e
}

// job returns the job that a step starts.
func (r *runner) job(n *Step, input any) (actors.Job, error) {
	if n.Plan != nil {
		params, _ := input.(map[string]any)
		return Job(Input{Plan: n.Plan, Params: params}, r.Config)
	}
	data, err := json.Marshal(input)
	if err != nil {
		return actors.Job{}, messages.InvalidInput("the input is not JSON: %v", err)
	}
	job := r.Read
	switch {
	case n.Write != nil:
		job = r.Write
	case n.Read == nil:
		job = *jobOf(r.Jobs, n.Job) // compile has found it
	}
	if job.New == nil {
		return actors.Job{}, messages.InvalidInput("plans can neither read nor write files here")
	}
	return job.New(data)
}

// schema returns the JSON Schema of the answer; the default is yes or no.
func (a *ask) schema() json.RawMessage {
	if a.Schema == nil {
		return json.RawMessage(`{"type":"boolean"}`)
	}
	return a.Schema
}

// ask asks people. By default the answer no fails the step, and so does declining.
func (r *runner) ask(ctx context.Context, n *Step, m move) ending {
	prompt, ok := m.input.(string)
	if !ok {
		return invalid(fmt.Errorf("ask: the prompt is not a text"))
	}
	in := messages.InputRequired{Request: childName(m), Prompt: prompt, Schema: n.Ask.schema(),
		TimeoutMS: time.Duration(n.Timeout).Milliseconds()}
	if n.Ask.Schema == nil {
		in.InputKind = messages.InputConfirmation
	}
	answer, err := r.task.Ask(ctx, in)
	if err != nil {
		return failedBy(err)
	}
	schema, err := validate.Compile(in.Schema)
	if err != nil {
		return invalid(err)
	}
	e := ending{outcome: completed}
	_ = json.Unmarshal(answer, &e.result) // the runtime has checked it
	switch problems := schema.Problems(answer); {
	case e.result == false && n.Ask.Schema == nil:
		e.outcome, e.cause, e.message = failed, messages.CauseCanceledByUser, "the answer was no"
	case problems != nil && e.result == nil:
		e.outcome, e.cause, e.message = failed, messages.CauseCanceledByUser, "nobody wanted to answer"
	case problems != nil:
		return invalid(fmt.Errorf("the answer does not fit: %s", strings.Join(problems, "; ")))
	}
	return e
}

// schema returns the JSON Schema of the message.
func (v *receive) schema() json.RawMessage {
	if v.Schema == nil {
		return json.RawMessage("true")
	}
	return v.Schema
}

// read returns what the message says, or what does not fit.
func (v *receive) read(text string) (value any, problems []string) {
	if v.Schema == nil {
		return text, nil
	}
	schema, err := validate.Compile(v.schema())
	if err == nil {
		err = json.Unmarshal([]byte(text), &value)
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	return value, schema.Problems([]byte(text))
}

// receiveSays is how often a wait for a message says that it goes on: so the run is not taken for one that hangs.
const receiveSays = 30 * time.Second

// receive waits for the next message that fits. A message that does not is noted and dropped. An attempt that begins again finds what
// the one before it has received.
func (r *runner) receive(ctx context.Context, n *Step, m move) ending {
	for _, text := range r.past.heard[childName(m)] {
		if value, problems := n.Receive.read(text); problems == nil {
			return ending{outcome: completed, result: value}
		}
	}
	began := time.Now()
	if n.Timeout > 0 {
		since := r.past.begun[pastWork{m.name, m.start}]
		if since.IsZero() {
			since = began
		}
		late := messages.Errorf(messages.CauseDeadline, "no message that fits has come for %v", time.Duration(n.Timeout))
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, since.Add(time.Duration(n.Timeout)), late)
		defer stop()
	}
	tick := time.NewTicker(receiveSays)
	defer tick.Stop()
	for ctx.Err() == nil {
		heard := r.task.Heard()
		got, err := r.task.Message(ctx, childName(m))
		if err != nil {
			return failedBy(err)
		}
		for _, one := range got {
			value, problems := n.Receive.read(one.Content)
			if problems == nil {
				return ending{outcome: completed, result: value}
			}
			_ = r.task.Notice(messages.NoticeMessageUnfit, fmt.Sprintf("the step %s cannot use the message %s: %s; say it anew", m.name, one.Message, strings.Join(problems, "; ")))
		}
		if len(got) > 0 {
			continue
		}
		select {
		case <-heard:
		case <-ctx.Done():
		case now := <-tick.C:
			_ = r.task.Emit(messages.Progress{Done: int64(now.Sub(began) / time.Second), Unit: "s"}, m.name+" waits for a message")
		}
	}
	return failedBy(context.Cause(ctx))
}
