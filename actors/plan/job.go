package plan

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "plan"

// Input is the job's input. It must hold no secrets: run.queued shows it.
type Input struct {
	Plan   *Plan          `json:"plan"`
	Params map[string]any `json:"params,omitempty"`
	// From is a step, and Run an earlier run of the plan: From and the steps after it run, and so do those that came to
	// nothing in Run. All others have ended as they did there.
	From string         `json:"from,omitempty"`
	Run  messages.RunID `json:"run,omitempty"`
}

// Config says what the steps of plans can do.
type Config struct {
	// Jobs are the jobs that steps may start, by name.
	Jobs map[string]Kind
	// Read and Write are the jobs of steps that read and write, as package artifact makes them.
	Read, Write actors.NewJob
	// Runs are the runs that the plan's caller may read. Without them a plan knows its own alone.
	Runs Runs
	// Shown is what the log has as a plan's input; nil is the input itself.
	Shown func(in Input) any
}

// Runs finds runs. Errors: not_found.
type Runs interface {
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error]
}

// Kind is a job that steps may start.
type Kind struct {
	// New makes the job.
	New actors.NewJob
	// Form is the JSON Schema of its input; nil is any input.
	Form json.RawMessage
}

// Job returns the job for the input. Errors: invalid_input, which says all that is wrong with the plan.
func Job(in Input, config Config) (actors.Job, error) {
	if in.Plan == nil {
		return actors.Job{}, messages.InvalidInput("the plan is missing; give it in the field plan")
	}
	g, err := compile(in.Plan, config.Jobs)
	if err != nil {
		return actors.Job{}, err
	}
	params, err := in.Plan.Values(in.Params)
	if err != nil {
		return actors.Job{}, err
	}
	anew, err := g.after(in.From)
	switch {
	case err != nil:
		return actors.Job{}, err
	case (in.From == "") != (in.Run == ""):
		return actors.Job{}, messages.InvalidInput("from is a step and run an earlier run of the plan; give both or neither")
	}
	shown := any(in)
	if config.Shown != nil {
		shown = config.Shown(in)
	}
	steps := func(ctx context.Context, t *actors.TaskContext) error {
		return newRunner(config, newCore(g, params), t, earlierRun{in.Run, anew}).run(ctx)
	}
	// Another attempt goes on where a crash has ended the last.
	return actors.Job{Name: Name, Input: shown, Restart: true, Tasks: []actors.Task{{Name: "steps", Run: steps,
		Policy: supervision.Policy{RetryCrash: true}}}}, nil
}

// New makes the job from the JSON of an [Input], as a runtime's Config.Jobs needs it. The plan in it may be a text.
func New(config Config) actors.NewJob {
	return func(input json.RawMessage) (actors.Job, error) {
		var in Input
		if err := json.Unmarshal(input, &in); err != nil {
			if _, ok := errors.AsType[Problems](err); ok {
				return actors.Job{}, err
			}
			return actors.Job{}, messages.InvalidInput("the input cannot be read: %v", err)
		}
		return Job(in, config)
	}
}

// Result returns the result of a plan that has completed.
func Result[T any](s messages.State) (result T, err error) {
	switch {
	case s.End == nil:
		return result, messages.Errorf(messages.CodeUnavailable, "the plan %s has not ended", s.RunID)
	case s.Status != messages.Completed:
		return result, messages.Errorf(messages.Code(s.End.Cause), "the plan %s is %s", s.RunID, s.Status)
	}
	return result, json.Unmarshal(s.End.Result, &result)
}
