package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/plans"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/explain"
	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

func runsCommand(p *host.Program) *cobra.Command {
	remote := &host.Remote{Program: p}
	cmd := settings.Parent("runs", runsListCommand(remote), runsGetCommand(remote), runsWatchCommand(remote), runsEventsCommand(remote),
		runsProofCommand(remote), runsFilesCommand(remote), runsAnswerCommand(remote), runsSayCommand(remote), runsReleaseCommand(remote), runsMoveCommand(remote), runsRetryCommand(remote), runsCancelCommand(remote), runsRemoveCommand(remote))
	remote.AddReadFlags(cmd, cmd.PersistentFlags())
	for _, sub := range cmd.Commands() {
		if sub.Name() != "ls" {
			sub.ValidArgsFunction = completeRuns(remote)
		}
	}
	return cmd
}

// runArgument wants the id of a run.
var runArgument = exit.Takes(1, "needs the id of one run, or last", "lastword runs ls lists them")

// ofRun calls run for the run that the first argument names, with the other arguments.
func ofRun[C host.Source](run func(*cobra.Command, C, messages.RunID, []string) error) func(*cobra.Command, []string, C) error {
	return func(cmd *cobra.Command, args []string, c C) error {
		id, err := runNamed(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		return run(cmd, c, id, args[1:])
	}
}

// oneRun returns a command that calls run for the run that its argument names.
func oneRun(remote *host.Remote, use string, run func(*cobra.Command, host.Source, messages.RunID) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: runArgument, RunE: remote.Read(ofRun(func(cmd *cobra.Command, c host.Source, id messages.RunID, _ []string) error {
		return run(cmd, c, id)
	}))}
}

// oneLiveRun is oneRun for commands that need a server.
func oneLiveRun(remote *host.Remote, use string, run func(*cobra.Command, *api.Client, messages.RunID) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: runArgument, RunE: remote.Ask(ofRun(func(cmd *cobra.Command, c *api.Client, id messages.RunID, _ []string) error {
		return run(cmd, c, id)
	}))}
}

// readCommand is oneRun for a command outside of runs, with the flags that name the server or the folder.
func readCommand(p *host.Program, use string, run func(*cobra.Command, *host.Remote, host.Source, messages.RunID) error) *cobra.Command {
	remote := &host.Remote{Program: p}
	cmd := oneRun(remote, use, func(cmd *cobra.Command, c host.Source, id messages.RunID) error { return run(cmd, remote, c, id) })
	cmd.GroupID, cmd.ValidArgsFunction = settings.Working, completeRuns(remote)
	remote.AddReadFlags(cmd, cmd.Flags())
	settings.FlagOnly(cmd.PersistentFlags(), "state")
	return cmd
}

func runsListCommand(remote *host.Remote) *cobra.Command {
	var f filter
	limit, asJSON := 0, false
	cmd := &cobra.Command{
		Use: "ls",
		RunE: remote.Read(func(cmd *cobra.Command, _ []string, c host.Source) error {
			var list []found
			for run, err := range f.pick(cmd, c) {
				if err != nil {
					return err
				}
				if list = append(list, run); len(list) == limit {
					break
				}
			}
			none := "there is no run yet"
			if f.given() {
				none = "no run fits"
			}
			return printRuns(cmd, list, asJSON, none)
		}),
	}
	f.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "also list sub-runs")
	flags.IntVar(&limit, "limit", 50, "maximum number of `runs` to list; 0 is no limit")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// printRuns prints a table, or a JSON object per line. none says that there is no run.
func printRuns(cmd *cobra.Command, list []found, asJSON bool, none string) error {
	if asJSON {
		return terminal.PrintLines(cmd.OutOrStdout(), list)
	}
	rows := [][]string{{"RUN", "STATUS", "JOB", "STARTED", "TOOK", "INPUT"}}
	spends := slices.ContainsFunc(list, func(run found) bool { return spentBy(run.Summary) != "" })
	if spends {
		rows[0] = slices.Insert(rows[0], 5, "SPENT")
	}
	for _, run := range list {
		end := time.Now()
		if run.Status.IsEnded() {
			end = run.UpdatedAt
		}
		if run.Status.IsEnded() && run.Cause != "" {
			run.status += " (" + string(run.Cause) + ")"
		}
		if run.silent >= messages.SilentAfter {
			run.status += " (silent " + terminal.Elapsed(run.silent) + ")"
		}
		row := []string{string(run.RunID), run.status, run.Job,
			fmt.Sprint(time.Since(run.QueuedAt).Round(time.Second), " ago"), terminal.Elapsed(end.Sub(run.QueuedAt)), words.Clip(run.Input, 40)}
		if spends {
			row = slices.Insert(row, 5, cmp.Or(spentBy(run.Summary), "-"))
		}
		rows = append(rows, row)
	}
	return terminal.List(cmd, rows, none)
}

// spentBy says which tokens, money and units of its budget a run has spent, of what there is; "" for none.
func spentBy(s messages.Summary) string {
	spent, limit := s.Spent().Amounts(), s.Limit().Amounts()
	var parts []string
	for unit, name := range messages.BudgetUnits {
		if name == "time" || limit[unit] == 0 && (spent[unit] == 0 || name != "tokens" && name != "cost") {
			continue
		}
		part := messages.FormatAmount(unit, spent[unit])
		if limit[unit] > 0 {
			part += "/" + messages.FormatAmount(unit, limit[unit])
		}
		if name != "cost" {
			part += " " + strings.ReplaceAll(name, "_", " ")
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 && s.Purse != nil && s.Purse.Estimated {
		return "about " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

func runsGetCommand(remote *host.Remote) *cobra.Command {
	return oneRun(remote, "get <run>", func(cmd *cobra.Command, c host.Source, id messages.RunID) error {
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		return terminal.PrintJSON(cmd.OutOrStdout(), state)
	})
}

func runsWatchCommand(remote *host.Remote) *cobra.Command {
	var show terminal.Display
	cmd := oneLiveRun(remote, "watch <run>", func(cmd *cobra.Command, c *api.Client, id messages.RunID) error {
		p := remote.Program
		show.Stdout, show.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		job := ""
		if state.Queued != nil {
			job = state.Queued.Job
		}
		showRun(&show, p, job)
		if !show.Quiet {
			show.Ask = p.Asker(cmd, remote.Place()).Ask
		}
		return host.WatchRemote(cmd.Context(), host.RemoteRun{Client: c, Run: id}, &show, func() error { return remote.Left(c, id) })
	})
	flags := cmd.Flags()
	flags.BoolVar(&show.JSONL, "jsonl", false, "print the run's events to stdout, one JSON object a line")
	flags.BoolVarP(&show.Quiet, "quiet", "q", false, "print nothing to stderr but errors, and ask nothing")
	return cmd
}

// showRun prepares the display for a run of the job.
func showRun(show *terminal.Display, p *host.Program, job string) {
	show.Output = !show.JSONL && job != generate.Name && job != plan.Name
	if job == generate.Name {
		show.Outcome = generate.Outcome
	}
	if show.Open(&p.Display); job == prompt.Name || job == chat.Name || job == agent.Name {
		show.ShowAnswers(&p.Display)
	}
}

func runsEventsCommand(remote *host.Remote) *cobra.Command {
	var want messages.FollowOptions
	var kinds []string
	var level string
	cmd := oneRun(remote, "events <run>", func(cmd *cobra.Command, c host.Source, id messages.RunID) error {
		for _, kind := range kinds {
			want.Filter.Kinds = append(want.Filter.Kinds, messages.Kind(kind))
		}
		want.Filter.MilestonesOnly = level == "milestone"
		lines := terminal.JSONLines(cmd.OutOrStdout())
		for e, err := range remote.Follow(cmd, c, id, want) {
			if err == nil {
				err = lines.Encode(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	flags := cmd.Flags()
	flags.Uint64Var(&want.After, "after", 0, "only events after this `number`")
	flags.StringSliceVar(&kinds, "kinds", nil, "only events of these `kinds`, separated by commas, and the last event")
	settings.Choice(cmd, flags, &level, "level", "all events, or milestones only", "delta", "milestone")
	flags.BoolVar(&want.Tree, "tree", false, "also print the events of sub-runs")
	return cmd
}

func runsProofCommand(remote *host.Remote) *cobra.Command {
	return oneLiveRun(remote, "proof <run>", func(cmd *cobra.Command, c *api.Client, id messages.RunID) error {
		body, err := c.Proof(cmd.Context(), id)
		if err == nil {
			_, err = io.Copy(cmd.OutOrStdout(), body)
			err = errors.Join(err, body.Close())
		}
		return err
	})
}

func runsCancelCommand(remote *host.Remote) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{Use: "cancel <run>... | --status STATUS"}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` for the runs' logs")
	cancel := someRuns(cmd, func(s messages.Status) bool { return !s.IsEnded() },
		func(ctx context.Context, c host.Source, id messages.RunID) (string, error) {
			return "", c.(*api.Client).Cancel(ctx, id, reason) // Ask always passes a client
		}, func(_ context.Context, c host.Source, id messages.RunID) (string, error) {
			return canceled(cmd, remote, c, id)
		})
	cmd.RunE = remote.Ask(func(cmd *cobra.Command, args []string, c *api.Client) error { return cancel(cmd, args, c) })
	return cmd
}

// canceled waits until the run has ended, and fails if it was not canceled.
func canceled(cmd *cobra.Command, remote *host.Remote, c host.Source, id messages.RunID) (string, error) {
	state, err := c.State(cmd.Context(), id)
	if err == nil && !state.Status.IsEnded() {
		for _, err = range remote.Follow(cmd, c, id, messages.FollowOptions{After: state.Seq, Filter: messages.Filter{MilestonesOnly: true}}) {
			if err != nil {
				return "", err
			}
		}
		state, err = c.State(cmd.Context(), id)
	}
	if err == nil && state.Status != messages.Canceled {
		err = fmt.Errorf("%s was not canceled: it ended %s", id, state.Status)
	}
	return fmt.Sprint("canceled ", id), err
}

func runsRemoveCommand(remote *host.Remote) *cobra.Command {
	vacuum := false
	cmd := &cobra.Command{Use: "rm <run>... | --status STATUS"}
	cmd.Flags().BoolVar(&vacuum, "vacuum", false, "rewrite the database of a stopped server without what was removed")
	remove := someRuns(cmd, messages.Status.IsEnded, func(ctx context.Context, c host.Source, id messages.RunID) (string, error) {
		return fmt.Sprint("forgot ", id), c.DeleteLog(ctx, id)
	})
	picks, alone := cmd.Args, false
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := picks(cmd, args)
		if alone = err != nil && vacuum && len(args) == 0; alone { // of what was removed before
			return nil
		}
		return err
	}
	cmd.RunE = remote.Read(func(cmd *cobra.Command, args []string, c host.Source) error {
		folder, stopped := c.(*store.Stopped)
		if vacuum && !stopped {
			return exit.BadUsage(cmd, errors.New("--vacuum needs the database alone"), "stop the server, and name its folder with --state")
		}
		if !alone {
			if err := remove(cmd, args, c); err != nil {
				return err
			}
		}
		if vacuum {
			return folder.Vacuum(cmd.Context())
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "files and conversations of removed runs stay, and a database may hold their texts "+
			"in free pages: see --vacuum")
		return nil
	})
	return cmd
}

func explainCommand(p *host.Program) *cobra.Command {
	return readCommand(p, "explain <run>", func(cmd *cobra.Command, _ *host.Remote, c host.Source, id messages.RunID) error {
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		sentences, err := explain.Read(c.Follow(cmd.Context(), id, messages.FollowOptions{}), state.Milestone)
		if _, live := c.(*api.Client); !live && !state.Status.IsEnded() {
			sentences = append(sentences, "But no process has its folder open, so nothing works at it now.")
		}
		for _, says := range sentences {
			fmt.Fprintln(cmd.OutOrStdout(), words.Printable(says))
		}
		return err
	})
}

// planCommand returns the command plan. Its subcommand show reads runs in the way of the command runs.
func planCommand(p *host.Program) *cobra.Command {
	cmd := plans.Command(p)
	cmd.AddCommand(readCommand(p, "show <run>", func(cmd *cobra.Command, remote *host.Remote, c host.Source, id messages.RunID) error {
		want := messages.FollowOptions{Filter: messages.Filter{MilestonesOnly: true}}
		return plans.Show(cmd.OutOrStdout(), remote.Follow(cmd, c, id, want))
	}))
	return cmd
}
