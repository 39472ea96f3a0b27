package host

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/plan"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// agents returns the job agent of a server over HTTP whose file of jobs names agents.
func (c *catalog) agents() []actors.Definition {
	if c.file == nil || len(c.file.Agents) == 0 || c.web == nil {
		return nil
	}
	config := agent.Config{Agents: c.file.Agents, Command: c.commandConfig()}
	if config.Command.Inside = c.insideAt(MCPPath); c.folder() != "" {
		config.Sessions = filepath.Join(c.folder(), "agents")
	}
	if list, err := c.program.Approvals(trust.Folder.Agents); err == nil && list != nil && !c.agentsConfirm {
		config.Allowed = list
	}
	return []actors.Definition{c.shared(agent.Define(config))}
}

// started returns the jobs that a request starts: its own, and those of a plan's steps.
func started(q messages.Request) []string {
	jobs := []string{q.Job}
	var in plan.Input
	if q.Job == plan.Name && json.Unmarshal(q.Input, &in) == nil && in.Plan != nil {
		jobs = append(jobs, in.Plan.Jobs()...)
	}
	return jobs
}

// guarded returns those jobs of a request that programs start only if the operator lists them: commands and agents.
func (c *catalog) guarded(q messages.Request) []string {
	return slices.DeleteFunc(started(q), func(job string) bool { return job != "run" && job != agent.Name && c.file.Jobs[job] == nil })
}

// mayStart returns an error (forbidden) if the caller may not start the job. Coding agents need a scope of their own, and
// without tokens a person: the page or a terminal. What runs inside a run may start what [command.Command.Starts] lists.
func (c *catalog) mayStart(ctx context.Context, q messages.Request) error {
	p := auth.From(ctx)
	switch {
	case len(c.agents()) == 0 || !slices.Contains(started(q), agent.Name):
		return nil
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
