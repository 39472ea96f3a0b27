package host

import (
	"errors"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/command"
	"github.com/seed889630bf/lastword/actors/regular"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages/fit"
)

// taken are the names that commands may not have, because jobs and tools have them.
var taken = []string{"generate", "prompt", "chat", "plan", "read", "write", "plan_run", "plan_check", "run", "schedules"}

// readJobs reads the operator's file of commands.
func (h *Options) readJobs() error {
	if h.jobsFile == "" {
		return nil
	}
	text, err := h.readFile("jobs", h.jobsFile)
	if err != nil {
		return err
	}
	if h.file, err = command.Read(text, taken); err == nil {
		return nil
	}
	return misconfigured(h.jobsFile, err)
}

// readFile reads a file of the operator, and learns its secrets; what says what it holds.
func (h *Options) readFile(what, name string) ([]byte, error) {
	text, err := regular.Read(name, regular.Small)
	if err != nil {
		err = &exit.Error{Code: exit.Configuration, Err: exit.Invalid("cannot read the %s in %s: %v", what, name, exit.Reason(err))}
	}
	settings.LearnDocument(h.Secrets, text, h.Env())
	return text, err
}

// Placed adds the file's name to each problem in a file.
func Placed(file string, err error) error {
	problems, ok := errors.AsType[fit.FileProblems](err)
	if !ok {
		return err
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = file + ":" + p.String()
	}
	return exit.Invalid("%s", strings.Join(lines, "\n"))
}

// misconfigured returns an error about a file that the operator must correct.
func misconfigured(file string, err error) error {
	return &exit.Error{Code: exit.Configuration, Err: Placed(file, err)}
}

// commands returns the jobs for the commands in the operator's file.
func (h *Options) commands() (jobs []actors.Definition) {
	if h.file == nil {
		return nil
	}
	jobs = h.file.Definitions(h.commandConfig())
	for i := range jobs {
		jobs[i] = h.shared(jobs[i])
	}
	return jobs
}

func (h *Options) commandConfig() command.Config {
	return command.Config{Environ: h.Env(), Secrets: h.Secrets, Spend: h.spend, Inside: h.inside,
		Folder: func(principal string) (string, error) { return h.place(principal, "") }}
}
