package host

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/artifact"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/cmd/internal/drawing"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/lmstxt"
)

// planTools is the set of the tools for plans.
const planTools = "plan"

// planInput is the input of a plan in a server's run. Its steps act for the caller.
type planInput struct {
	plan.Input
	Caller string `json:"caller,omitempty"`
}

// plan makes the job from what preparePlan returned.
func (h *Options) plan(input json.RawMessage) (actors.Job, error) {
	var in planInput
	if err := decode(input, &in); err != nil {
		return actors.Job{}, err
	}
	config, err := h.planConfig(in.Caller)
	if err != nil {
		return actors.Job{}, err
	}
	job, err := plan.Job(in.Input, config)
	job.Input = in
	return job, err
}

// preparePlan makes the job's input from a call's arguments, after it has checked the plan.
func (h *Options) preparePlan(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	in := planInput{Caller: auth.From(ctx).Name}
	if err := readPlan(arguments, &in.Input); err != nil {
		return nil, err
	}
	config, err := h.planConfig(in.Caller)
	if err == nil {
		_, err = plan.Job(in.Input, config)
	}
	if err != nil {
		return nil, messages.InvalidInput("%v", err)
	}
	return json.Marshal(in)
}

// readPlan reads arguments with a plan, whose problems are the caller's.
func readPlan(arguments json.RawMessage, in *plan.Input) error {
	err := json.Unmarshal(arguments, in)
	if problems, ok := errors.AsType[plan.Problems](err); ok {
		return messages.InvalidInput("%v", problems)
	}
	if err != nil {
		return messages.InvalidInput("the arguments cannot be read: %v", err)
	}
	return nil
}

// jobTools are the jobs that callers start, as tools: of models, or of programs, which may say more.
func (h *Options) jobTools(programs bool) []mcp.JobTool {
	var generate []string
	if programs {
		generate = lmstxt.ForPrograms
	}
	return []mcp.JobTool{lmstxt.GenerateTool(h.prepareGenerate, generate...), toolOf(h.prompt(), programs), toolOf(h.chat(), programs)}
}

// toolOf is the job as a tool of models, or of programs.
func toolOf(d actors.Definition, programs bool) mcp.JobTool {
	input := d.Models
	if programs {
		input = d.Input
	}
	return mcp.JobTool{Job: d.Name, Title: d.Title, Description: d.Description, Input: input.JSON(), Output: d.Output.JSON(),
		OpenWorld: d.OpenWorld}
}

// callable are the tools of jobTools and the one for plans, with the limits of the server.
func (h *Options) callable(programs bool) []mcp.JobTool {
	tools := append(h.jobTools(programs), planTool(h.preparePlan))
	for t := range tools {
		tools[t].Limits = messages.Limits{StallMS: Milliseconds(h.finder.Endpoint.StallTimeout())}
	}
	return tools
}

// planConfig says what the steps of a caller's plans can do: what the caller can.
func (h *Options) planConfig(caller string) (plan.Config, error) {
	folder := func(principal string) (string, error) { return h.place(homeOf(principal), "") }
	spend := func(principal string, bytes int) error { return h.quota.take(homeOf(principal), int64(bytes)) }
	runs := func(principal string) plan.Runs { return ownRuns{h.program, principal} }
	write := artifact.Write(folder, spend)
	save := write.New
	write.New = func(input json.RawMessage) (actors.Job, error) {
		job, err := save(input)
		if err != nil {
			return job, err
		}
		return h.shared(job), nil
	}
	generate := lmstxt.GenerateTool(h.prepareGenerate, lmstxt.ForPrograms...)
	if err := generate.Compile(); err != nil {
		return plan.Config{}, err
	}
	ctx := auth.With(context.Background(), auth.Principal{Name: caller})
	return plan.Config{Runs: runs, Write: write,
		Read: artifact.Read(func(ctx context.Context, id messages.RunID, principal string) (messages.State, error) {
			return runs(principal).State(ctx, id)
		}, h.artifact),
		Jobs: []actors.Definition{h.prompt(), h.chat(), {Name: generate.Job,
			About: messages.About{Input: func() json.RawMessage { return generate.Input }},
			New: func(arguments json.RawMessage) (actors.Job, error) {
				arguments, err := generate.JobInput(ctx, arguments)
				if err != nil {
					return actors.Job{}, err
				}
				return h.generate(arguments)
			}}},
	}, nil
}

// ownRuns are the runs of a caller.
type ownRuns struct {
	program *Program
	caller  string
}

// State returns what the run's log adds up to, if the run is the caller's.
func (o ownRuns) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := o.program.runtime().State(ctx, id)
	if err == nil {
		err = auth.Own(auth.With(ctx, auth.Principal{Name: o.caller}), state)
	}
	return state, err
}

// Events yields the run's events. Who asks for them has its State.
func (o ownRuns) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return o.program.runtime().Events(ctx, id, after)
}

// PlanConfig says what the steps of the program's own plans can do: they write below the folder. done ends their calls
// of models.
func (p *Program) PlanConfig(out, model string, read repository.Source, endpoint settings.Endpoint) (
	config plan.Config, done func(), err error) {
	h := &Options{program: p, Secrets: p.Secrets, Out: settings.Absolute(out), Read: read, model: model}
	h.finder.Endpoint = endpoint
	h.Read.SetLimits(&h.limits)
	if h.box, err = h.mcpServers.Open(h.Env(), h.Secrets, ThisBuild().Full()); err != nil {
		return config, nil, err
	}
	config, err = h.planConfig("")
	return config, func() { h.finder.Close(); h.box.Close() }, err
}

// planTool is the job plan as a tool.
func planTool(prepare func(context.Context, json.RawMessage) (json.RawMessage, error)) mcp.JobTool {
	return mcp.JobTool{
		Job: plan.Name, Name: "plan_run", Title: "Run a plan",
		Description: "Runs the steps of a plan, each after those it needs: generate, prompt, chat, read, write, ask " +
			"or a plan within. Check it with plan_check first.",
		Input: mcp.Object([]string{"plan"}, planArgument,
			`"params":{"type":"object","description":"the plan's parameters, by name"}`,
			`"from":{"type":"string","description":"step to start from; the steps that do not come after it keep their results of run"}`,
			`"run":{"type":"string","description":"an earlier run of the plan, for from"}`),
		OpenWorld: true, Prepare: prepare,
	}
}

const planArgument = `"plan":{"anyOf":[{"type":"string"},{"type":"object"}],"description":"the plan as YAML or JSON: ` +
	`params, steps and result"}`

// planProblems is what plan_check answers.
type planProblems struct {
	Valid    bool          `json:"valid"`
	Problems plan.Problems `json:"problems"`
	Graph    string        `json:"graph,omitempty"`
}

// registerPlans offers the tools for plans.
func (i *Server) registerPlans(run mcp.JobTool) error {
	h := i.options
	if err := i.Handler.AddJob(run); err != nil {
		return err
	}
	check := mcp.Tool{Name: "plan_check", Title: "Check a plan", ReadOnly: true, Idempotent: true,
		Description: "Says all that is wrong with a plan, with line and column, or draws its graph. Runs nothing.",
		Input:       mcp.Object([]string{"plan"}, planArgument)}
	return mcp.AddTool(i.Handler, check, func(ctx context.Context, arguments json.RawMessage) (*mcp.Result, error) {
		config, err := h.planConfig(auth.From(ctx).Name)
		if err != nil {
			return nil, err
		}
		return checkPlan(arguments, config.Jobs)
	})
}

func checkPlan(arguments json.RawMessage, jobs []actors.Definition) (*mcp.Result, error) {
	var in plan.Input
	err := json.Unmarshal(arguments, &in)
	if err == nil {
		err = in.Plan.Check(jobs)
	}
	answer := planProblems{Problems: plan.Problems{}}
	if problems, ok := errors.AsType[plan.Problems](err); ok {
		answer.Problems = problems
		return mcp.Structured(answer)
	}
	if err != nil {
		return nil, messages.InvalidInput("the arguments cannot be read: %v", err)
	}
	answer.Valid, answer.Graph = true, drawing.Mermaid(in.Plan)
	return mcp.Structured(answer)
}
