package commands

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// options holds the flags of run.
type options struct {
	program       *host.Program
	timeout, idle time.Duration
	maxOutput     settings.ByteSize
	detach, keep  bool
	agent         command.Program // its agent, if it is one
	retry         int
	background    bool
	state         store.Flags
	at            host.Remote
	show          terminal.Display
}

// RunCommand returns the command run.
func RunCommand(p *host.Program) *cobra.Command {
	o := options{program: p, at: host.Remote{Program: p}}
	cmd := &cobra.Command{
		Use:  "run [flags] -- <program> [argument]...",
		Args: exit.TakesSome(1, math.MaxInt, "needs a program", "for example: lastword run -- make test"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	settings.Group(flags, "Run", func() {
		flags.DurationVar(&o.timeout, "timeout", 0, "maximum `time` of the program, such as 90s (default 24h)")
		flags.DurationVar(&o.idle, "idle", 0, "maximum `time` without output")
		flags.Var(&o.maxOutput, "max-output", "maximum `bytes` of output in the run's log; stdout gets all (default 2MiB)")
		flags.BoolVar(&o.detach, "detach", false, "start the program at a server and return; its operator must allow the program")
		flags.BoolVar(&o.keep, "keep-children", false, "keep what the program leaves behind, such as a daemon")
		flags.StringVar(&o.agent.Agent, "agent", "", "`name` of the coding agent that the program is: its JSON lines become the run's events, and its stdin is empty")
		flags.BoolVar(&o.agent.AllowDenied, "allow-denied", false, "do not fail if the agent was refused a call, with --agent")
		flags.IntVar(&o.retry, "retry", 0, "start the program again after a failure, up to so many `times`")
		flags.BoolVar(&o.background, "background", false, "leave the program to a process in the background, and print the id of its run")
		flags.BoolVar(&o.show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object per line, in place of the program's output")
		flags.BoolVarP(&o.show.Quiet, "quiet", "q", false, "print no card at the end, unless the run fails")
		o.state.AddState(flags)
	})
	settings.Group(flags, "Server", func() {
		o.at.AddFlags(flags, "`URL` of the server of --detach, or unix:PATH (default "+host.DefaultServer+")")
	})
	settings.Must(cmd.RegisterFlagCompletionFunc("agent", cobra.FixedCompletions(agent.Names(true), cobra.ShellCompDirectiveNoFileComp)))
	settings.ByOperator(flags)
	return cmd
}

// leave starts the command line as a run at the server.
func (o *options) leave(cmd *cobra.Command, args []string, c *api.Client) error {
	input, err := json.Marshal(command.Line{Command: args})
	if err != nil {
		return err
	}
	id, err := c.Submit(cmd.Context(), messages.Request{Job: "run", Input: input, Key: rand.Text()})
	if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	return err
}

const day = 24 * time.Hour

// run runs the command as a job of this process, with its input and output. It exits with the command's own code. A
// job's own limits are set to a day, so that only the flags limit it.
func (o *options) run(cmd *cobra.Command, args []string) error {
	switch {
	case o.timeout < 0 || o.idle < 0 || o.retry < 0:
		return exit.BadUsage(cmd, settings.Negative("--timeout, --idle and --retry"), "")
	case o.detach && (o.background || o.state.Durable() || o.retry > 0 || o.show.JSONL):
		return exit.BadUsage(cmd, errors.New("--detach leaves the program to a server, which has its own state and settings"),
			"leave out --background, --state, --retry and --jsonl")
	case o.background && o.show.JSONL:
		return exit.BadUsage(cmd, errLeft, "")
	case o.detach:
		return o.at.Ask(o.leave)(cmd, args)
	case o.background && !isBehind(o.program):
		return leaveBehind(cmd, o.program, &o.state, "", "", append([]string{"--"}, args...))
	}
	p := command.Program{Line: command.Line{Command: args}, Timeout: schedule.Duration(o.timeout), Idle: schedule.Duration(o.idle),
		MaxOutput: command.Size(o.maxOutput), Retries: o.retry, Agent: o.agent.Agent, AllowDenied: o.agent.AllowDenied}
	if p.Agent != "" && p.Idle == 0 {
		p.Idle = schedule.Duration(agent.Idle)
	}
	if o.keep {
		p.Children = command.KeepChildren
	}
	if o.state.Durable() { // whoever starts it again may be elsewhere
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		p.Dir = dir
	}
	return o.start(cmd, p, nil)
}

// start runs the program as a job of this process.
func (o *options) start(cmd *cobra.Command, p command.Program, labels map[string]string) error {
	folder := o.state.Folder(o.program.Env)
	if err := free(folder); err != nil {
		return err
	}
	g, err := o.program.Guardian(cmd.Context(), folder, nil)
	if err != nil {
		return err
	}
	defer g.Close()
	code := -1
	atTerminal := terminal.IsTerminal(cmd.InOrStdin()) || terminal.IsTerminal(cmd.OutOrStdout()) || terminal.IsTerminal(cmd.ErrOrStderr())
	config := command.Config{Environ: o.program.Env, Secrets: o.program.Secrets, Inherit: true, Start: host.GuardedStart(g, atTerminal),
		Stdout: terminal.Shown(cmd.OutOrStdout()), Stderr: terminal.Shown(cmd.ErrOrStderr()), Stopping: o.show.Hurry, Exited: func(c int) { code = c }}
	config.Seal, config.Open = o.program.Sealing(nil)
	if folder != "" {
		o.show.Folder = filepath.Join(folder, "artifacts")
		config.Folder = func(string) (string, error) { return o.show.Folder, nil }
	}
	if in, ok := cmd.InOrStdin().(*os.File); ok && !terminal.IsTerminal(in) && !o.background {
		config.Stdin = in
	}
	if o.show.JSONL {
		config.Stdout = nil
	}
	if o.background {
		config.Stdout, config.Stderr = nil, nil
	}
	if p.Agent != "" {
		config.NoStdin, config.Stdin, config.Stdout, config.Exited = true, nil, nil, nil
		if config.Speak, err = agent.Headless(p.Agent, p.AllowDenied); err != nil {
			return exit.BadUsage(cmd, err, "")
		}
	}
	job, err := command.Job(p, config)
	if err != nil {
		return err
	}
	var ended messages.State
	o.show.Print = func(_ io.Writer, s messages.State) error {
		if ended = s; p.Agent == "" { // who shows an agent shows its notices
			for _, n := range s.Notices {
				fmt.Fprintln(o.show.Stderr, "lastword:", n.Text)
			}
		}
		return nil
	}
	o.show.Stdout, o.show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.show.Open(&o.program.Display)
	o.show.View, o.show.Brief = terminal.Silent{}, !terminal.IsTerminal(o.show.Stderr)
	if p.Agent != "" {
		o.show.ShowAnswers(&o.program.Display)
	}
	if o.show.Served = true; o.background {
		o.show.View = &announcing{to: o.show.Stdout}
	}
	if terminal.IsTerminal(cmd.InOrStdin()) && terminal.IsTerminal(o.show.Stderr) {
		asker := o.program.Asker(cmd, "")
		o.show.Ask = asker.Ask
	}
	limits := messages.Limits{WallClockMS: day.Milliseconds(), StallMS: day.Milliseconds(), Bytes: command.LogBytes(p.MaxOutput)}
	err = o.program.WatchWith(cmd.Context(), job, actors.Options{Limits: limits, Labels: labels}, &o.state, &o.show, nil)
	if ended.End == nil || ended.Status == messages.Canceled {
		return err
	}
	switch cause := ended.End.Cause; {
	case cause == messages.CauseDeadline, cause == messages.CauseStalled:
		return &exit.Error{Code: exit.Timeout}
	case code > 0:
		return &exit.Error{Code: code}
	}
	return err
}
