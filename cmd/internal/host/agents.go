package host

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/lmstxt"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/openai"
)

// agents returns the job agent of a server over HTTP whose file of jobs names agents.
func (c *catalog) agents() []actors.Definition {
	if c.file == nil || len(c.file.Agents) == 0 || c.web == nil {
		return nil
	}
	config := agent.Config{Agents: c.file.Agents, Command: c.commandConfig(), Relay: MCPRelay()}
	if config.Command.Inside = c.insideAt(MCPPath); c.folder() != "" {
		config.Sessions = filepath.Join(c.folder(), "agents")
	}
	if list, err := c.program.Approvals(trust.Folder.Agents); err == nil && list != nil && !c.agentsConfirm {
		config.Allowed = list
	}
	return []actors.Definition{c.shared(agent.Define(config))}
}

// MCPRelay is [agent.Config.Relay].
func MCPRelay() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "mcp", "--server"}
}

// started returns the jobs that a request starts: its own job, and the jobs of a plan's steps.
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

// mayStart returns an error (forbidden) if the caller may not start the job. Coding agents need their own scope, and
// without tokens a person: the page or a terminal. What runs inside a run may start what [command.Command.Starts] lists.
func (c *catalog) mayStart(ctx context.Context, q messages.Request) error {
	p := auth.From(ctx)
	switch {
	case !slices.Contains(started(q), agent.Name) || len(c.agents()) == 0:
		return nil
	case p.Name == "" && auth.At(ctx) == "":
		return messages.Errorf(auth.CodeForbidden, "a coding agent is started on the page, or at a terminal with lastword agent --server; programs need a token with the scope %s", auth.AgentRuns)
	}
	return auth.Require(ctx, auth.AgentRuns)
}

// Submit is the runtime's Submit, for callers that may start the job.
func (o offered) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	if err := o.jobs.mayStart(ctx, q); err != nil {
		return "", err
	}
	return o.System.Submit(ctx, q)
}

// AgentDoor is lastword's own server for an agent of this process, on loopback. By MCP the agent starts generate as
// sub-runs of its run. A door to one model, if there is one, makes each answer a sub-run, so that the budget counts it. The
// agent gets a token that was made for its run, and never a key.
type AgentDoor struct {
	Program  *Program
	Endpoint *settings.Endpoint
	Model    string // "" is none
	Out      string // folder below which generate writes
	jobs     *catalog
	tokens   auth.RunTokens
	url      string
}

// define returns the jobs of the door. The server of models is asked as the flags say.
func (d *AgentDoor) define() []actors.Definition {
	c := &Checked{Flags: Flags{program: d.Program, Out: settings.Absolute(d.Out), Read: d.Program.Source()}}
	d.jobs = c.newCatalog(&toolbox.Box{}, nil)
	jobs := slices.DeleteFunc(d.jobs.steps().Jobs, func(job actors.Definition) bool { return job.Name != generate.Name })
	if d.Model == "" {
		return jobs
	}
	return append(jobs, prompt.Define(sync.OnceValues(func() (prompt.Config, error) {
		client, err := d.Endpoint.Client(0)
		if err != nil {
			return prompt.Config{}, err
		}
		return prompt.Config{Stream: client.Stream, Model: d.Model, Provider: d.Endpoint.Host()}, nil
	})))
}

// Inside is [command.Config.Inside]: the token is for what the door offers alone.
func (d *AgentDoor) Inside(t *actors.TaskContext, _ func(messages.Request) error) (variables []string, end func()) {
	return insideAt(&d.tokens, "/", d.url, t, func(q messages.Request) error {
		var in prompt.Input
		if q.Job == generate.Name || d.Model != "" && q.Job == prompt.Name && json.Unmarshal(q.Input, &in) == nil && in.Model == d.Model {
			return nil
		}
		return messages.Errorf(auth.CodeForbidden, "the token is for generate and the model %q alone", d.Model)
	})
}

// serve serves the door on this machine until stop is called.
func (d *AgentDoor) serve(system *actors.System) (stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	entrance, err := auth.New(auth.Config{RunTokens: &d.tokens})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	d.url = "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	inside := entrance.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if auth.From(r.Context()).Inside == nil { // without a token it is nobody's
			http.Error(w, "the door is for the agent of a run", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	tools := mcp.New(mcp.Config{Runs: system, Open: d.jobs.artifact, Name: "lastword", Title: "lastword", Version: build.This().Full(),
		Instructions: d.jobs.instructions(), Redact: d.Program.Secrets.Bytes})
	if err := lmstxt.RegisterGenerate(tools); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	mux.Handle(MCPPath, tools)
	if d.Model != "" {
		to := door.New(door.Config{Runs: system, Jobs: system.Jobs(), Redact: d.Program.Secrets.Bytes,
			Models: func(context.Context, string) ([]string, error) { return []string{d.Model}, nil }})
		openai.Add(to, func(api *door.Handler, paths ...string) {
			for _, path := range paths {
				mux.Handle(path, api)
			}
		})
	}
	end := RunBeside(func(ctx context.Context) {
		_ = server.Serve(ctx, listener, inside, server.Limits{Drain: time.Second}) // the agent says what it lacks
	})
	return func() { end(); tools.Close(); d.jobs.close() }, nil
}
