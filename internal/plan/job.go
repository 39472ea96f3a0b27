package plan

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/plan/internal/expression"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "plan"

// Input is the job's input. It must hold no secrets, because run.queued shows it.
type Input struct {
	Plan   *Plan          `json:"plan"`
	Params map[string]any `json:"params,omitempty"`
	// From is a step, and Run an earlier run of the plan. From and the steps after it run, and so do steps that did
	// not succeed in Run. All other steps keep their outcomes from Run.
	From string         `json:"from,omitempty"`
	Run  messages.RunID `json:"run,omitempty"`
}

// Config says what the steps of plans can do.
type Config struct {
	// Jobs are the jobs that steps may start. A step's input must fit the job's schema.
	Jobs []actors.Definition
	// Read and Write are the jobs of steps that read and write files, from package artifact.
	Read, Write actors.Definition
	// Runs returns the runs that a principal may read. Without it a plan can only read its own.
	Runs func(principal string) Runs

	budget *expression.Budget // of the plan around this one; nil if there is none
}

// Runs finds runs. Errors: not_found.
type Runs interface {
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error]
}

// Job returns the job for the input. Errors: invalid_input, which lists all faults of the plan.
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
	steps := func(ctx context.Context, t *actors.TaskContext) error {
		return newRunner(config, newCore(g, params), t, earlierRun{in.Run, anew}).run(ctx)
	}
	// another attempt continues where a crash ended the last one
	return actors.Job{Name: Name, Title: in.title(), Input: in, Restart: true, Messages: in.Plan.Receives(), Tasks: []actors.Task{{Name: "steps", Run: steps,
		Policy: supervision.Policy{RetryCrash: true}}}}, nil
}

// title returns the plan's name and the parameters that the caller gives or, without both, the names of the steps.
func (in Input) title() string {
	parts := []string{in.Plan.Name}
	for _, name := range words.Keys(maps.Keys(in.Params)) {
		value, _ := json.Marshal(in.Params[name]) // of JSON
		parts = append(parts, name+"="+messages.Plain(value))
	}
	if in.Plan.Name == "" && len(in.Params) == 0 {
		for _, s := range in.Plan.Steps {
			parts = append(parts, s.Name)
		}
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// Property is the property "plan" in a JSON Schema, for callers that give a plan in few words.
const Property = `"plan":{"anyOf":[{"type":"string"},{"type":"object"}],"description":"the plan as YAML or JSON: params, steps and result"}`

const inputSchema = `{"type":"object","additionalProperties":false,"required":["plan"],"properties":{` + Property + `,` +
	`"params":{"type":"object","description":"the plan's parameters, by name"},` +
	`"from":{"type":"string","description":"step to start from; the steps that do not come after it keep their results of run"},` +
	`"run":{"type":"string","description":"an earlier run of the plan, for from"}},` +
	`"$defs":{"job":{"description":"the jobs that steps may start","enum":`

// StepJobs returns the jobs of a server that steps of its job plan may start, and for [Check] the tools of other
// servers. Errors: not_found without such a job.
func StepJobs(jobs []messages.JobInfo) (steps []actors.Definition, err error) {
	plan := slices.IndexFunc(jobs, func(j messages.JobInfo) bool { return j.Name == Name })
	if plan < 0 {
		return nil, messages.Errorf(messages.CodeNotFound, "the server has no job %s", Name)
	}
	var schema struct {
		Defs struct{ Job struct{ Enum []string } } `json:"$defs"`
	}
	if err := json.Unmarshal(jobs[plan].Input.JSON(), &schema); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if slices.Contains(schema.Defs.Job.Enum, j.Name) || j.Tool != "" {
			steps = append(steps, actors.Definition{Name: j.Name, JobSpec: j.JobSpec})
		}
	}
	return steps, nil
}

// Define returns the definition of the job. The plan of an [Input] may be a text.
func Define(config Config) actors.Definition {
	within := slices.DeleteFunc(append(slices.Clip(config.Jobs), config.Read, config.Write),
		func(d actors.Definition) bool { return d.New == nil })
	names := []string{}
	for _, d := range config.Jobs {
		names = append(names, d.Name)
	}
	list, _ := json.Marshal(names) // of texts
	input := json.RawMessage(inputSchema + string(list) + "}}}")
	return actors.Definition{Name: Name, SubJobs: within, JobSpec: messages.JobSpec{
		Title: "Run a plan",
		Description: "Runs the steps of a plan, each after those it needs: a job that the schema names, " +
			"read, write, ask, receive or a plan within. Check it with plan_check first.",
		Input: func() json.RawMessage { return input }, OpenWorld: true,
	}, New: actors.Typed(func(in Input) (actors.Job, error) { return Job(in, config) })}
}
