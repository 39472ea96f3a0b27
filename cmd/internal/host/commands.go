package host

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/guardian"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// taken are the names that commands may not have, because jobs and tools have them.
var taken = []string{"generate", "prompt", "chat", "plan", "read", "write", "plan_run", "plan_check", "run", "schedules", "tool"}

// readJobs reads the operator's file of commands.
func (f *Flags) readJobs() (*command.File, error) {
	if f.jobsFile == "" {
		return nil, nil
	}
	text, err := f.readFile("jobs", f.jobsFile)
	if err != nil {
		return nil, err
	}
	file, err := command.Read(text, taken)
	if err == nil {
		err = agent.Check(file.Agents)
	}
	if err != nil {
		err = misconfigured(f.jobsFile, err)
	}
	return file, err
}

// readFile reads a file of the operator, and learns its secrets; what says what it holds.
func (f *Flags) readFile(what, name string) ([]byte, error) {
	text, err := regular.Read(name, regular.Small)
	if err != nil {
		err = &exit.Error{Code: exit.Configuration, Err: messages.InvalidInput("cannot read the %s in %s: %v", what, name, exit.Reason(err))}
	}
	settings.LearnDocument(f.program.Secrets, text, f.Env())
	return text, err
}

// Placed adds the file's name to each problem in a file.
func Placed(file string, err error) error {
	problems, ok := errors.AsType[validate.FileProblems](err)
	if !ok {
		return err
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = file + ":" + p.String()
	}
	return messages.InvalidInput("%s", strings.Join(lines, "\n"))
}

// misconfigured returns an error about a file that the operator must correct.
func misconfigured(file string, err error) error {
	return &exit.Error{Code: exit.Configuration, Err: Placed(file, err)}
}

// commands returns the jobs for the commands in the operator's file.
func (c *catalog) commands() (jobs []actors.Definition) {
	if c.file == nil {
		return nil
	}
	jobs = c.file.Definitions(c.commandConfig())
	for i := range jobs {
		jobs[i] = c.shared(jobs[i])
	}
	return jobs
}

func (c *catalog) commandConfig() command.Config {
	seal, open := c.program.Sealing(c.sealing)
	return command.Config{Environ: c.Env(), Secrets: c.program.Secrets, Spend: c.spend, Inside: c.insideAt(""), Start: GuardedStart(c.guardian, false),
		Seal: seal, Open: open, Guarded: c.guarded,
		Folder: func(principal string) (string, error) { return c.place(principal, "") }}
}

// insideAt is [command.Config.Inside] for the path.
func (c *catalog) insideAt(path string) func(*actors.TaskContext, func(messages.Request) error) ([]string, func()) {
	if c.inside == nil {
		return nil
	}
	return func(t *actors.TaskContext, may func(messages.Request) error) ([]string, func()) {
		return c.inside(path, t, may)
	}
}

// Sealing returns functions that seal what only programs of runs see again: with the given keys, or else with the key of the
// user's folder of trust. Without a folder what they seal ends with the process.
func (p *Program) Sealing(given seal.Keys) (func(value []byte) string, func(sealed string) ([]byte, bool)) {
	const use = "kept step"
	keys := sync.OnceValue(func() seal.Keys {
		if folder, err := trust.Open(p.Env); len(given) == 0 && err == nil {
			if secret, err := folder.Sealing(); err == nil {
				return seal.Keys{secret}
			}
		}
		return seal.New(given)
	})
	return func(value []byte) string { return keys().Seal(use, value) },
		func(sealed string) ([]byte, bool) { return keys().Open(use, sealed) }
}

// GuardedStart returns a function that starts a command; when the command ends, the guardian ends all that it started. It
// returns nil without a guardian. With foreground, commands are in the process group of this program.
func GuardedStart(g *guardian.Guardian, foreground bool) func(cmd *exec.Cmd, tty, keep bool) (command.Process, error) {
	if g == nil {
		return nil
	}
	return func(cmd *exec.Cmd, tty, keep bool) (command.Process, error) {
		p, err := g.Start(cmd, guardian.Options{Terminal: tty, Foreground: foreground, Keep: keep})
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// startGuardian starts the guardian of commands. It waits until nothing lives that an earlier server of the folder has
// started, because the runtime may start the same commands again.
func (c *Checked) startGuardian(ctx context.Context, log *zap.Logger) (*guardian.Guardian, error) {
	if c.file == nil && len(c.behind) == 0 {
		return nil, nil
	}
	return c.program.Guardian(ctx, c.folder(), func() {
		log.Warn("commands of the last server still run: this one starts when they have ended", zap.String("folder", c.folder()))
	})
}
