package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// agentOptions holds the flags of agent.
type agentOptions struct {
	program               *host.Program
	in                    agent.Input
	idle                  time.Duration
	headless, allowDenied bool
	background            bool
	behindDoor            string // the model of --through-door
	endpoint              settings.Endpoint
	at                    host.Remote // the server to run at, if --server is given
	host.Foreground
}

// AgentCommand returns the command agent.
func AgentCommand(p *host.Program) *cobra.Command {
	o := agentOptions{program: p, at: host.Remote{Program: p}, endpoint: p.Endpoint()}
	cmd := &cobra.Command{
		Use: "agent <name> [prompt]",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return agent.Names(false), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "Agent", func() {
		flags.StringVar(&o.in.Prompt, "prompt", "", "`text` of the prompt, for -- COMMAND; without it stdin has it")
		flags.StringVar(&o.in.Dir, "dir", ".", "`folder` in which the agent works")
		flags.StringVar(&o.in.Session, "session", "", "`ID` of the session to go on with; last is the newest of the folder")
		flags.StringVar(&o.in.Mode, "mode", agent.AskMode, "`name` of a mode of the agent; ask asks before it changes something")
		flags.BoolVar(&o.headless, "headless", false, "start the agent for programs, and read its JSON lines: it asks nothing")
		flags.BoolVar(&o.allowDenied, "allow-denied", false, "do not fail if a call was refused, with --headless")
		flags.DurationVar(&o.idle, "idle", agent.Idle, "maximum `time` in which the agent does nothing")
	})
	settings.Group(flags, "Agent", func() {
		flags.StringVar(&o.behindDoor, "through-door", "", "`name` of a model that the agent gets through lastword, which counts and keeps its answers")
	})
	o.endpoint.AddServerFlags(flags)
	settings.Group(flags, "Run", func() {
		o.AddFlags(cmd, flags, "24h", p)
		flags.BoolVar(&o.background, "background", false, "leave the agent to a process in the background, and print the id of its run")
	})
	settings.Group(flags, "Server", func() { o.at.AddOwnFlags(cmd, flags) })
	settings.ByOperator(flags)
	cmd.AddCommand(allowedCommand(p))
	return cmd
}

// allowedCommand returns the command that lists what people have permanently allowed agents, and takes it back.
func allowedCommand(p *host.Program) *cobra.Command {
	forget := ""
	cmd := &cobra.Command{Use: "allowed [flags]", Args: exit.Takes(0, "takes no argument", ""), RunE: func(cmd *cobra.Command, _ []string) error {
		list, err := p.Approvals(trust.Folder.Agents)
		if err == nil && list == nil {
			err = exit.Misconfigured(trust.ErrNowhere)
		}
		if err != nil {
			return err
		}
		all, err := list.All()
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "SINCE", "WHAT"}}
		for _, a := range all {
			if len(forget) >= 6 && strings.HasPrefix(a.Pin, forget) {
				return list.Remove(a.Pin)
			}
			rows = append(rows, []string{a.Pin[:min(len(a.Pin), 12)], a.At.Format(time.DateOnly), words.Printable(words.Clip(a.Tool, 300))})
		}
		if forget != "" {
			return messages.InvalidInput("no permission has the id %s; lastword agent allowed lists them", forget)
		}
		return terminal.List(cmd, rows, "no agent has a permanent permission")
	}}
	cmd.Flags().StringVar(&forget, "forget", "", "`id` of what is no longer allowed: the agent asks again")
	settings.FlagOnly(cmd.Flags(), "forget")
	return cmd
}

// run starts the agent in this process or at a server, and shows what it says.
func (o *agentOptions) run(cmd *cobra.Command, args []string) error {
	line, err := o.read(cmd, args)
	if err == nil {
		err = o.Check()
	}
	if err == nil && o.idle <= 0 {
		err = errors.New("--idle must be positive")
	}
	if err == nil && o.background && (o.Show.JSON || o.Show.JSONL) {
		err = errLeft
	}
	if err != nil {
		return exit.BadUsage(cmd, err, `for example: lastword agent claude "Fix the failing test"`)
	}
	switch {
	case o.at.URL != "":
		return o.runAt(cmd, line)
	case o.background && !isBehind(o.program):
		what := []string{o.in.Agent}
		if line != nil {
			what = append([]string{"--"}, line...)
		}
		return leaveBehind(cmd, o.program, &o.State, "prompt", o.in.Prompt, what)
	}
	g, err := o.program.Guardian(cmd.Context(), "", nil)
	if err != nil {
		return err
	}
	defer g.Close()
	config := agent.Config{Relay: host.MCPRelay(), Idle: o.idle, Timeout: o.Timeout, Headless: o.headless, AllowDenied: o.allowDenied,
		Command: command.Config{Environ: o.program.Env, Secrets: o.program.Secrets, Inherit: true, Start: host.GuardedStart(g, false)}}
	if state := o.program.Env.StateFolder(); state != "" {
		config.Sessions = filepath.Join(state, "agents", "sessions")
		config.Command.Folder = func(string) (string, error) { return filepath.Join(state, "agents", "changes"), nil }
		o.Show.Folder = filepath.Join(state, "agents", "changes")
	}
	list, err := o.program.Approvals(trust.Folder.Agents)
	if list != nil {
		config.Allowed = list
	}
	if err != nil {
		return err
	}
	var door *host.AgentDoor
	if config.ThroughDoor = o.behindDoor; o.behindDoor != "" || !o.headless {
		door = &host.AgentDoor{Program: o.program, Endpoint: &o.endpoint, Model: o.behindDoor, Out: o.Show.Folder}
		config.Command.Inside = door.Inside
	}
	job, err := agent.Job(o.in, line, config)
	if err != nil {
		return err
	}
	o.open(cmd)
	if o.background {
		o.Show.View, o.Show.Answer, o.Show.Ask = &announcing{to: o.Show.Stdout}, nil, nil
	} else if !o.State.Durable() && !terminal.IsTerminal(cmd.InOrStdin()) {
		o.Show.Ask = nobody(cmd.ErrOrStderr())
	}
	limits := o.Limits()
	limits.WallClockMS, limits.StallMS = day.Milliseconds(), day.Milliseconds() // the command's own limits hold instead
	return o.program.WatchWith(cmd.Context(), job, actors.Options{Limits: limits}, &o.State, &o.Show, door)
}

// read reads the arguments. line is a command that speaks ACP.
func (o *agentOptions) read(cmd *cobra.Command, args []string) (line []string, err error) {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash == 0 && len(args) > 0:
		line = args
	case dash >= 0, len(args) == 0, len(args) > 2:
		return nil, errors.New("agent takes the name of an agent and a prompt, or -- and a command")
	default:
		o.in.Agent = args[0]
		if len(args) == 2 && args[1] != "-" {
			o.in.Prompt = args[1]
		}
	}
	if o.in.Prompt == "" && !terminal.IsTerminal(cmd.InOrStdin()) {
		text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 1<<20))
		if err != nil {
			return nil, fmt.Errorf("cannot read stdin: %w", err)
		}
		o.in.Prompt = strings.TrimRight(string(text), "\r\n")
	}
	return line, nil
}

func (o *agentOptions) open(cmd *cobra.Command) {
	o.Show.Stdout, o.Show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Show.Open(&o.program.Display)
	o.Show.ShowAnswers(&o.program.Display)
	o.Show.Ask, o.Show.Served = o.program.Asker(cmd, o.at.Place()).Ask, true
}

// nobody says that nobody can answer.
func nobody(out io.Writer) func(context.Context, messages.RunID, messages.InputRequired) (json.RawMessage, error) {
	return func(_ context.Context, _ messages.RunID, in messages.InputRequired) (json.RawMessage, error) {
		fmt.Fprintf(out, "%s\nnobody can answer, so the answer is no: start the agent at a terminal, or with --state or --server\n", in.Prompt)
		return json.RawMessage("null"), nil
	}
}

// runAt starts the agent at the server of --server. It goes on when this terminal closes.
func (o *agentOptions) runAt(cmd *cobra.Command, line []string) error {
	err := settings.WithoutEffect(cmd, "at a server; leave it out, or leave out --server", func(f *pflag.Flag) bool {
		return settings.GroupOf(f) != "Model server" && !slices.Contains([]string{"state", "background", "through-door", "headless", "allow-denied", "idle"}, f.Name)
	})
	if err == nil && line != nil {
		err = errors.New("a server starts only agents that its file of jobs names")
	}
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	if !cmd.Flags().Changed("dir") {
		o.in.Dir = ""
	} else if o.in.Dir, err = filepath.Abs(o.in.Dir); err != nil {
		return err
	}
	input, err := json.Marshal(o.in)
	if err != nil {
		return err
	}
	run, err := o.at.Submit(cmd.Context(), messages.Request{Job: agent.Name, Input: input, Limits: o.Limits()})
	if err != nil {
		return err
	}
	o.open(cmd)
	run.Stays = true
	return o.at.WatchOwn(cmd.Context(), run, &o.Show, func(messages.State) error { return nil })
}
