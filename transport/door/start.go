package door

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// job is a job that callers may start. The schemas of its input are compiled when a caller first needs them.
type job struct {
	messages.JobInfo
	programs, models func() (*validate.Schema, error)
}

func newJob(info messages.JobInfo) job {
	compile := validate.Compile
	if info.Tool != "" {
		compile = validate.CompileForeign
	}
	compiled := func(schema messages.JSONSchema) func() (*validate.Schema, error) {
		return sync.OnceValues(func() (*validate.Schema, error) { return compile(schema.JSON()) })
	}
	j := job{JobInfo: info, programs: compiled(info.Input)}
	if j.models = j.programs; info.ModelInput != nil {
		j.models = compiled(info.ModelInput)
	}
	return j
}

// View is another job with a part of its input given, under its own name.
type View struct {
	messages.JobInfo
	// Whole returns the request for the other job.
	Whole func(messages.Request) messages.Request
}

// Listed returns the jobs that the caller may start, with the views. A name is as for Views.
func (d *Door) Listed(ctx context.Context, name string) (all []messages.JobInfo, err error) {
	all = slices.Clone(d.Jobs)
	if d.Views == nil {
		return all, nil
	}
	views, err := d.Views(ctx, name)
	for _, v := range views {
		all = append(all, v.JobInfo)
	}
	return all, err
}

// whole returns the request, of the job behind the view if it names one.
func (d *Door) whole(ctx context.Context, q messages.Request) (messages.Request, error) {
	if _, known := d.jobs[q.Job]; known || d.Views == nil {
		return q, nil
	}
	views, err := d.Views(ctx, q.Job)
	for _, v := range views {
		if v.Name == q.Job {
			q.Input, err = newJob(v.JobInfo).fitByModel(q.Input)
			return v.Whole(q), err
		}
	}
	return q, err
}

// Job returns the job with this name. Errors: invalid_input, which suggests a similar name.
func (d *Door) Job(name string) (messages.JobInfo, error) {
	job, ok := d.jobs[name]
	if !ok {
		return job.JobInfo, messages.InvalidInput("there is no job %.100q%s", name, words.Meant(name, words.Keys(maps.Keys(d.jobs))))
	}
	return job.JobInfo, nil
}

// Start starts a run of the caller. Its input is fitted to the job's schema. The default input is {}, the default mode
// detached. Errors: forbidden, which is checked first; invalid_input; and the runtime's errors.
func (d *Door) Start(ctx context.Context, q messages.Request) (messages.RunID, error) {
	return d.start(ctx, q, job.fit)
}

// StartFit is Start for an input that the caller has made for the job.
func (d *Door) StartFit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	return d.start(ctx, q, func(_ job, input json.RawMessage) (json.RawMessage, error) { return input, nil })
}

// StartByModel is Start for an input that a model has written: an object with members that models may fill.
func (d *Door) StartByModel(ctx context.Context, q messages.Request) (messages.RunID, error) {
	q.Agent = true
	return d.start(ctx, q, job.fitByModel)
}

// start starts a run with the input that fit returns.
func (d *Door) start(ctx context.Context, q messages.Request, fit func(job, json.RawMessage) (json.RawMessage, error)) (id messages.RunID, err error) {
	if err := auth.Require(ctx, auth.WriteRuns); err != nil {
		return "", err
	}
	if text := bytes.TrimSpace(q.Input); len(text) == 0 || string(text) == "null" {
		q.Input = json.RawMessage("{}")
	}
	if q, err = d.whole(ctx, q); err != nil {
		return "", err
	}
	if _, err := d.Job(q.Job); err != nil {
		return "", err
	}
	if q.Input, err = fit(d.jobs[q.Job], q.Input); err != nil {
		return "", err
	}
	p := auth.From(ctx)
	if p.Inside != nil {
		return p.Inside.Start(ctx, q)
	}
	by := Client
	if q.Agent {
		by = Agent
	}
	q.Principal, q.Door, q.Mode = p.Name, ways[by.seen(ctx)], cmp.Or(q.Mode, messages.Detached)
	if q.Busy != messages.BusySteer && q.Busy != messages.BusyInterrupt {
		return d.Runs.Submit(ctx, q)
	}
	if q.Agent {
		q.Input = d.Redact(q.Input)
	}
	id, err = d.Runs.Submit(ctx, q)
	var input map[string]json.RawMessage
	var text string
	_ = json.Unmarshal(q.Input, &input) // the job judges it
	if _ = json.Unmarshal(input[d.jobs[q.Job].PromptField], &text); messages.CodeOf(err) == messages.CauseLimitExceeded {
		err = cmp.Or(tooLong(text), err)
	}
	return id, err
}

// fit fits the input of a program. The job itself judges what does not fit: it may take more than its schema says.
func (j job) fit(input json.RawMessage) (json.RawMessage, error) {
	schema, err := j.programs()
	if err != nil {
		return input, nil
	}
	if fitting, err := schema.Fit(input); err == nil {
		return fitting, nil
	}
	return input, nil
}

func (j job) fitByModel(input json.RawMessage) (json.RawMessage, error) {
	schema, err := j.models()
	if err != nil {
		return nil, err
	}
	return schema.Fit(input)
}

// CheckSchema returns an error if the schema that models see of a job's input cannot be read, or a default does not fit.
func (d *Door) CheckSchema(name string) error {
	schema, err := d.jobs[name].models()
	if err == nil {
		err = schema.CheckDefaults()
	}
	return err
}
