package commands

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/command"
	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// options holds the flags of run.
type options struct {
	program       *host.Program
	timeout, idle time.Duration
	maxOutput     settings.ByteSize
	detach, keep  bool
	agent         string // reads its lines
	allowDenied   bool
	at            host.Remote
	show          terminal.Display
}

// RunCommand returns the command run.
func RunCommand(p *host.Program) *cobra.Command {
	o := options{program: p, at: host.Remote{Program: p}}
	cmd := &cobra.Command{
		Use:     "run [flags] -- <program> [argument]...",
		GroupID: settings.Working,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.BadUsage(cmd, errors.New("run needs a program"), "for example: lastword run -- make test")
			}
			return nil
		},
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
		flags.StringVar(&o.agent, "agent", "", "`name` of the coding agent that the program is: its JSON lines become the run's events, and its stdin is empty")
		flags.BoolVar(&o.allowDenied, "allow-denied", false, "do not fail if the agent was refused a call, with --agent")
		flags.BoolVarP(&o.show.Quiet, "quiet", "q", false, "print no card at the end, unless the run fails")
	})
	settings.Group(flags, "Server", func() {
		o.at.AddFlags(cmd, flags, "`URL` of the server of --detach, or unix:PATH (default "+host.DefaultServer+")")
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

// run runs the command as a job of this process, with its input and output. It exits with the command's own code. A
// job's own limits are set to a day, so that only the flags limit it.
func (o *options) run(cmd *cobra.Command, args []string) error {
	switch {
	case o.timeout < 0 || o.idle < 0:
		return exit.BadUsage(cmd, settings.Negative("--timeout and --idle"), "")
	case o.detach:
		return o.at.Ask(o.leave)(cmd, args)
	case o.agent != "":
		return o.runAgent(cmd, args)
	}
	g, err := o.program.Guardian(cmd.Context(), "", nil)
	if err != nil {
		return err
	}
	defer g.Close()
	code := -1
	atTerminal := terminal.IsTerminal(cmd.InOrStdin()) || terminal.IsTerminal(cmd.OutOrStdout()) || terminal.IsTerminal(cmd.ErrOrStderr())
	config := command.Config{Environ: o.program.Env, Secrets: o.program.Secrets, Inherit: true, Start: host.GuardedStart(g, atTerminal),
		Stdout: terminal.Shown(cmd.OutOrStdout()), Stderr: terminal.Shown(cmd.ErrOrStderr()), Stopping: o.show.Hurry, Exited: func(c int) { code = c }}
	if in, ok := cmd.InOrStdin().(*os.File); ok && !terminal.IsTerminal(in) {
		config.Stdin = in
	}
	what := command.Command{Command: args, Timeout: schedule.Duration(o.timeout), Idle: schedule.Duration(o.idle), MaxOutput: command.Size(o.maxOutput)}
	if o.keep {
		what.Children = command.KeepChildren
	}
	job, err := command.Job(what, config)
	if err != nil {
		return err
	}
	var ended messages.State
	o.show.Print = func(_ io.Writer, s messages.State) error { ended = s; return nil }
	o.show.Stdout, o.show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.show.Open(&o.program.Display)
	o.show.View, o.show.Brief = terminal.Silent{}, !terminal.IsTerminal(o.show.Stderr)
	if terminal.IsTerminal(cmd.InOrStdin()) && terminal.IsTerminal(o.show.Stderr) {
		asker := o.program.Asker(cmd, "")
		o.show.Ask = asker.Ask
	}
	const day = 24 * time.Hour
	limits := messages.Limits{WallClockMS: day.Milliseconds(), StallMS: day.Milliseconds(), Bytes: command.LogBytes(command.Size(o.maxOutput))}
	err = o.program.Watch(cmd.Context(), job, limits, &store.Flags{}, &o.show)
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
