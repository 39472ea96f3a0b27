package host

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// agents returns the job agent of a server over HTTP whose file of jobs names agents.
func (c *catalog) agents() []actors.Definition {
	if c.file == nil || len(c.file.Agents) == 0 || c.web == nil {
		return nil
	}
	config := agent.Config{Agents: c.file.Agents, Command: c.commandConfig()}
	if config.Command.Inside = nil; c.folder() != "" {
		config.Sessions = filepath.Join(c.folder(), "agents")
	}
	return []actors.Definition{c.shared(agent.Define(config))}
}

// startsAgent reports whether a run of the job may start a coding agent.
func startsAgent(job string, input json.RawMessage) bool {
	var in plan.Input
	return job == agent.Name || job == plan.Name && json.Unmarshal(input, &in) == nil && in.Plan != nil && hasAgent(in.Plan)
}

// hasAgent reports whether a step of the plan, or of a plan in it, starts a coding agent.
func hasAgent(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Job == agent.Name || s.Plan != nil && hasAgent(s.Plan) })
}

// mayStart returns an error (forbidden) if the caller may not start the job. Coding agents need a scope of their own, and
// without tokens a person: the page or a terminal. What runs inside a run starts none.
func (c *catalog) mayStart(ctx context.Context, q messages.Request) error {
	p := auth.From(ctx)
	switch {
	case len(c.agents()) == 0 || !startsAgent(q.Job, q.Input):
		return nil
	case p.Inside != nil:
		return messages.Errorf(auth.CodeForbidden, "what runs inside run %s starts no coding agent; its user does", p.Inside.Run)
	case p.Name == "" && auth.At(ctx) == "":
		return messages.Errorf(auth.CodeForbidden, "a coding agent is started on the page, or at a terminal with lastword agent --server; programs need a token with the scope %s", auth.AgentRuns)
	}
	return auth.Require(ctx, auth.AgentRuns)
}

// Submit is that of the runtime, for callers that may start the job.
func (o offered) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	if err := o.jobs.mayStart(ctx, q); err != nil {
		return "", err
	}
	return o.System.Submit(ctx, q)
}
