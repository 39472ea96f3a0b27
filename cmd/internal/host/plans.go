package host

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/drawing"
	"github.com/seed889630bf/lastword/cmd/internal/repository"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// planTools is the set of tools for plans.
const planTools = "plan"

// ownRuns gives access to the runs of one caller.
type ownRuns struct {
	program *Program
	caller  string
}

// State returns the State of the caller's run. Errors: not_found.
func (o ownRuns) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := o.program.runtime().State(ctx, id)
	if err == nil {
		err = auth.Own(auth.With(ctx, auth.Principal{Name: o.caller}), state)
	}
	return state, err
}

// Events yields the run's events. The caller must have got the run's State before.
func (o ownRuns) Events(ctx context.Context, id messages.RunID, after uint64) iter.Seq2[messages.Event, error] {
	return o.program.runtime().Events(ctx, id, after)
}

// PlanConfig returns the configuration for plans that the program itself runs, with the commands in the file jobs, if it
// is not "". They write below the folder out. done closes the connections to model servers.
func (p *Program) PlanConfig(ctx context.Context, out, model, jobs string, read repository.Source, endpoint settings.Endpoint) (
	config plan.Config, done func(), err error) {
	c := &Checked{Flags: Flags{program: p, Out: settings.Absolute(out), Read: read, model: model, endpoint: endpoint, jobsFile: jobs}}
	if c.file, err = c.readJobs(); err != nil {
		return config, nil, err
	}
	tools, err := c.openTools()
	if err != nil {
		return config, nil, err
	}
	all := c.newCatalog(tools, nil)
	if c.file != nil {
		all.guardian, err = p.Guardian(ctx, "", nil)
	}
	return all.steps(), all.close, err
}

// planProblems is the result of the tool plan_check.
type planProblems struct {
	Valid    bool          `json:"valid"`
	Problems plan.Problems `json:"problems"`
	Graph    string        `json:"graph,omitempty"`
}

// registerPlans adds the tools for plans.
func (s *Server) registerPlans() error {
	if err := s.Handler.AddJob(mcp.JobTool{Job: plan.Name, Name: "plan_run"}); err != nil {
		return err
	}
	check := mcp.Tool{Name: "plan_check", Title: "Check a plan", ReadOnly: true, Idempotent: true,
		Description: "Says all that is wrong with a plan, with line and column, or draws its graph. Runs nothing.",
		Input:       mcp.Object([]string{"plan"}, plan.Property)}
	jobs := s.jobs.steps().Jobs
	return mcp.AddTool(s.Handler, check, func(_ context.Context, arguments json.RawMessage) (*mcp.Result, error) {
		return checkPlan(arguments, jobs)
	})
}

// checkPlan answers a call of plan_check. A plan with problems is no error of the tool: the agent reads them and
// corrects the plan.
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
