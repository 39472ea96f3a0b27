package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/jobschema"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// Name is the job's name.
const Name = "agent"

// AskMode is the mode in which an agent asks people before it changes something. It is the default.
const AskMode = "ask"

// last stands for the newest session of the agent in its folder.
const last = "last"

// Idle is how long an agent may be silent by default.
const Idle = 5 * time.Minute

// Input is the job's input.
type Input struct {
	Agent   string `json:"agent" jsonschema:"name of the agent, such as claude"`
	Prompt  string `json:"prompt" jsonschema:"what the agent is to do"`
	Dir     string `json:"dir,omitempty" jsonschema:"folder in which the agent works; default: the first allowed folder"`
	Session string `json:"session,omitempty" jsonschema:"session to continue: a name from an earlier result, or last for the newest session of the folder"`
	Mode    string `json:"mode,omitempty" jsonschema:"mode of the agent; ask, the default, asks people before it changes something"`
}

// Config says which agents the job starts.
type Config struct {
	// Agents are the agents that may be started, by name. nil means all that are known by name, in any folder.
	Agents map[string]command.Agent
	// Command is what all programs need. Its Speak is not used.
	Command command.Config
	// Sessions is the folder that remembers the sessions; "" remembers none.
	Sessions string
	// Idle is how long an agent may be silent, while nobody is asked; 0 means Idle. Timeout bounds the turn.
	Idle, Timeout time.Duration
	// Headless starts the agent for programs, and reads its JSON lines. AllowDenied is as for the function Headless.
	Headless, AllowDenied bool
	// Allowed lists what people have permanently allowed. Without it the agents themselves keep such answers.
	Allowed interface {
		Has(pin string) (bool, error)
		Add(what, pin string) error
	}

	// ThroughDoor is the model that agents get through the server of Command.Inside, which counts its tokens; "" means that
	// they ask their own model.
	ThroughDoor string

	// Relay is a command that connects an MCP client over stdin and stdout with the server at a URL, which follows; nil is none.
	// Agents that take no MCP server by HTTP get lastword's own by it.
	Relay []string

	program, root string // of the run
}

// Define returns the job.
func Define(config Config) actors.Definition {
	names := slices.Sorted(maps.Keys(config.Agents))
	return actors.Definition{Name: Name, NoRestart: true, New: actors.Typed(func(in Input) (actors.Job, error) { return Job(in, nil, config) }),
		JobSpec: messages.JobSpec{Title: "Run a coding agent", Description: "Lets a coding agent work in a folder: " + listed(names) + ". It asks people what it needs their word for.",
			Input: jobschema.Input[Input](), Output: jobschema.Result[Result](), Destructive: true, OpenWorld: true,
			Limits: messages.Limits{WallClockMS: day.Milliseconds(), StallMS: day.Milliseconds()}}}
}

// errForeign refuses an agent that would go round the door, with its own key.
func errForeign(agent string) error {
	return messages.InvalidInput("%s does not speak OpenAI's API, which lastword's door does; leave out --through-door", agent)
}

const day = 24 * time.Hour

// Job returns the job for the input. line is a command that speaks ACP, for an agent without a name. Errors:
// invalid_input.
func Job(in Input, line []string, config Config) (actors.Job, error) {
	of, known := agents[in.Agent]
	allowed := config.Agents[in.Agent]
	if len(allowed.Command) > 0 {
		line = allowed.Command
	}
	switch _, named := config.Agents[in.Agent]; {
	case config.Agents != nil && !named:
		return actors.Job{}, messages.InvalidInput("no agent %q is allowed here; take one of %s", in.Agent, listed(slices.Sorted(maps.Keys(config.Agents))))
	case len(line) == 0 && !known:
		return actors.Job{}, messages.InvalidInput("there is no agent %q%s; name one, or give a command that speaks ACP", in.Agent, words.Meant(in.Agent, Names(false)))
	case strings.TrimSpace(in.Prompt) == "":
		return actors.Job{}, messages.InvalidInput("the agent needs a prompt")
	case config.Agents != nil && in.Mode != "" && in.Mode != AskMode && in.Mode != allowed.Mode:
		return actors.Job{}, messages.InvalidInput("the mode %q of %s is not allowed here; leave it out", in.Mode, in.Agent)
	}
	in.Mode = cmp.Or(in.Mode, allowed.Mode)
	var err error
	if in.Dir, config.root, err = folderOf(in.Dir, allowed.Roots); err != nil {
		return actors.Job{}, err
	}
	if len(line) == 0 {
		line = of.acp
	}
	in.Agent = cmp.Or(in.Agent, filepath.Base(line[0]))
	config.program = strings.Join(line, "\x00")
	return config.job(in, of, line, allowed)
}

// folderOf returns the folder without links, and the root that it is or is below; without roots that is the folder.
func folderOf(dir string, roots []string) (real, root string, err error) {
	if dir == "" && len(roots) > 0 {
		dir = roots[0]
	}
	real, err = filepath.EvalSymlinks(cmp.Or(dir, "."))
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if info, wrong := os.Stat(real); err == nil && (wrong != nil || !info.IsDir()) {
		err = cmp.Or(wrong, fmt.Errorf("it is no folder"))
	}
	if err != nil {
		return "", "", messages.InvalidInput("the folder %q cannot be used: %v", dir, err)
	}
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root)
		below, wrong := filepath.Rel(root, real)
		if err == nil && wrong == nil && filepath.IsLocal(below) {
			return real, root, nil
		}
	}
	if len(roots) > 0 {
		return "", "", messages.InvalidInput("the folder %q is outside the folders that are allowed for this agent: %s", dir, listed(roots))
	}
	return real, real, nil
}

// job makes the job of one agent. The prompt is not repeated if its node is lost: the agent may have done its work.
func (config Config) job(in Input, of about, line []string, allowed command.Agent) (actors.Job, error) {
	c, idle := config.Command, cmp.Or(config.Idle, Idle)
	c.Speak = func(s command.Spoken) command.Speaker { return newClient(in, of, config, s) }
	if config.Headless {
		read, err := readerOf(in.Agent, config.AllowDenied, config.ThroughDoor != "")
		if err != nil {
			return actors.Job{}, err
		}
		c.NoStdin, c.Speak, line = true, read, append(slices.Clone(of.flags), in.Prompt)
	}
	if config.ThroughDoor != "" {
		if of.foreign {
			return actors.Job{}, errForeign(in.Agent)
		}
		inside := c.Inside
		c.Inside = func(t *actors.TaskContext, may func(messages.Request) error) ([]string, func()) {
			variables, end := inside(t, may)
			return append(of.through(config.ThroughDoor, variables), variables...), end
		}
	}
	if of.askEnv != "" && (in.Mode == "" || in.Mode == AskMode) {
		allowed.Env = append(slices.Clone(allowed.Env), of.askEnv)
	}
	if !c.Inherit {
		allowed.Env = append(slices.Clone(allowed.Env), "PATH", "HOME", "USER", "LOGNAME", "LANG", "SHELL", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
	}
	job, err := command.Job(command.Program{Line: command.Line{Command: line}, Dir: in.Dir, Env: allowed.Env, Starts: allowed.Starts, Idle: schedule.Duration(idle), Timeout: schedule.Duration(config.Timeout)}, c)
	if err != nil {
		return job, err
	}
	job.Name, job.Input, job.NoRestart = Name, in, true
	if config.ThroughDoor != "" {
		job.Models = []string{config.ThroughDoor}
	} else if of.costless {
		job.Models = []string{in.Agent}
	}
	if in.Session != "" {
		job.Conversation = "agent." + messages.Digest(in.Agent + "\x00" + in.Dir)[:32]
	}
	task := &job.Tasks[0]
	run := task.Run
	task.Name, task.Once = Name, true
	task.Run = func(ctx context.Context, t *actors.TaskContext) (err error) {
		if now, _, wrong := folderOf(in.Dir, allowed.Roots); wrong != nil || now != in.Dir { // a run before may have put a link there
			return cmp.Or(wrong, error(messages.InvalidInput("the folder %q is another one than at the start", in.Dir)))
		}
		if in.Session, err = config.sessionOf(in, t.Principal()); err == nil {
			err = run(ctx, t)
		}
		if messages.CodeOf(err) == "not_found" && of.install != "" {
			return messages.Errorf("not_found", "%s is not installed: there is no program %s; install it with: %s", in.Agent, line[0], of.install)
		}
		return err
	}
	return job, nil
}
