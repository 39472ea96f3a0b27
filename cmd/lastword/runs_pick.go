package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// statuses returns what a filter may select: the first words of [messages.Standings].
func statuses() []string {
	all := messages.Standings()
	for i := range all {
		all[i] = firstWord(all[i])
	}
	return all
}

func firstWord(standing string) string { word, _, _ := strings.Cut(standing, " "); return word }

// filter selects runs. A run also counts as what its State says: one that waits for a person is processing, too.
type filter struct {
	statuses, labels []string
	job              string
	all              bool // include sub-runs
}

func (f *filter) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.statuses, "status", nil, "`statuses`: "+strings.Join(statuses(), ", "))
	flags.StringVar(&f.job, "job", "", "`name` of a job")
	flags.StringSliceVar(&f.labels, "label", nil, "`labels` as name=value, separated by commas")
	settings.Must(cmd.RegisterFlagCompletionFunc("status",
		cobra.FixedCompletions(statuses(), cobra.ShellCompDirectiveNoFileComp)))
}

// given reports whether the user has given a filter.
func (f *filter) given() bool { return f.job != "" || len(f.statuses)+len(f.labels) > 0 }

// query returns the query for the server. It may select more than the filter.
func (f *filter) query(cmd *cobra.Command) (messages.Query, error) {
	q := messages.Query{Job: f.job, Limit: 1000, Labels: map[string]string{}}
	for _, status := range f.statuses {
		if !slices.Contains(statuses(), status) {
			return q, exit.BadUsage(cmd, fmt.Errorf("no run has the status %q%s", status, words.Meant(status, statuses())), "")
		}
		switch one := messages.Status(status); {
		case one == messages.Pending || one == messages.Processing || one.IsEnded():
			q.Status = append(q.Status, one)
		default: // held, or canceling, or it waits
			q.Status = append(q.Status, messages.Pending, messages.Processing)
		}
	}
	for _, one := range f.labels {
		name, value, found := strings.Cut(one, "=")
		if !found {
			return q, exit.BadUsage(cmd, fmt.Errorf("--label %q is not name=value", one), "")
		}
		q.Labels[name] = value
	}
	return q, nil
}

// found is a run with the status that is shown to people.
type found struct {
	messages.Summary
	status string
	silent time.Duration // how long a run that works has had no event, nor a sub-run of it
}

// pick yields the runs that the filter selects, the newest first.
func (f *filter) pick(cmd *cobra.Command, c host.Source) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		q, err := f.query(cmd)
		if err != nil {
			yield(found{}, err)
			return
		}
		asking := map[messages.RunID]bool{} // runs with waiting sub-runs; those are newer, so they come first
		latest := map[string]time.Time{}    // of runs with sub-runs: the newest event below them
		for s, err := range every(cmd.Context(), c, q) {
			if err != nil {
				yield(found{}, err)
				return
			}
			one := found{Summary: s, status: s.Standing(asking[s.RunID])}
			if one.status == string(messages.Processing) {
				one.silent = min(time.Since(s.UpdatedAt), time.Since(latest[string(s.RunID)]))
			}
			for i, c := range string(s.RunID) {
				if above := string(s.RunID)[:i]; c == '.' && s.UpdatedAt.After(latest[above]) {
					latest[above] = s.UpdatedAt
				}
			}
			top, _, sub := strings.Cut(string(s.RunID), ".")
			if sub && firstWord(one.status) == "waiting" {
				asking[messages.RunID(top)] = true
			}
			wanted := len(f.statuses) == 0 || slices.Contains(f.statuses, firstWord(one.status)) || slices.Contains(f.statuses, string(s.Status))
			if (f.all || !sub) && wanted && !yield(one, nil) {
				return
			}
		}
	}
}

// every yields all runs that the query selects, from all pages.
func every(ctx context.Context, c host.Source, q messages.Query) iter.Seq2[messages.Summary, error] {
	return func(yield func(messages.Summary, error) bool) {
		for cursor := ""; ; {
			list, next, err := c.List(ctx, q, cursor)
			if err != nil {
				yield(messages.Summary{}, err)
				return
			}
			for _, s := range list {
				if !yield(s, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

// wholeID is the length of a complete run id: r_ and 128 bits.
const wholeID = len("r_k66hldz6ofnwat4rgzpadp2myg")

// runNamed returns the run that an argument names: by its id, by the beginning of its id, or as "last".
func runNamed(ctx context.Context, c host.Source, name string) (messages.RunID, error) {
	if name == "" {
		return "", messages.InvalidInput("the id of the run is empty; lastword runs ls lists the runs")
	}
	if len(name) >= wholeID {
		return messages.RunID(name), nil
	}
	var like []messages.RunID
	for s, err := range every(ctx, c, messages.Query{Limit: 1000}) {
		switch sub := strings.Contains(string(s.RunID), "."); {
		case err != nil:
			return "", err
		case sub:
		case name == last:
			return s.RunID, nil
		case strings.HasPrefix(string(s.RunID), name):
			like = append(like, s.RunID)
		}
	}
	switch {
	case len(like) == 1:
		return like[0], nil
	case len(like) > 1:
		return "", messages.InvalidInput("%d runs begin with %s: %s and %s; write more of the id", len(like), name, like[0], like[1])
	}
	if name == last {
		return "", messages.Errorf(messages.CodeNotFound, "there is no run yet")
	}
	return "", messages.Errorf(messages.CodeNotFound, "no run begins with %q; lastword runs ls lists them", name)
}

// completeRuns completes run ids. It shows status, job and input with each.
func completeRuns(remote *host.Remote) cobra.CompletionFunc {
	const nothing = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	return func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		cmd.SetErr(io.Discard) // output would disturb the command line
		if len(args) > 0 || settings.Configure(cmd, args, remote.Program.Env, remote.Program.ConfigFile, remote.Program.Secrets) != nil {
			return nil, nothing
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		cmd.SetContext(ctx)
		_ = remote.Read(func(cmd *cobra.Command, _ []string, c host.Source) error {
			for run, err := range new(filter).pick(cmd, c) {
				if err != nil || len(ids) == 100 {
					return err
				}
				about := terminal.Flat(strings.Join([]string{run.status, run.Job, run.Input}, " "))
				ids = append(ids, cobra.CompletionWithDesc(string(run.RunID), about))
			}
			return nil
		})(cmd, args) // without a server there is nothing to complete
		return ids, nothing
	}
}

// someRuns adds the filters of ls to the command. The command takes each step for the runs that its arguments name, or
// for those selected by its filters for which fits returns true. After an error it leaves that run, and fails at the end.
func someRuns(cmd *cobra.Command, fits func(messages.Status) bool,
	steps ...func(ctx context.Context, c host.Source, id messages.RunID) (says string, err error)) func(*cobra.Command, []string, host.Source) error {
	var f filter
	f.addFlags(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if f.given() != (len(args) == 0) {
			return exit.BadUsage(cmd, errors.New("give the ids of runs, or filters such as --status"), "lastword runs ls lists them")
		}
		return nil
	}
	return func(cmd *cobra.Command, args []string, c host.Source) error {
		var ids []messages.RunID // find all runs before changing the first
		for _, name := range args {
			id, err := runNamed(cmd.Context(), c, name)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if len(args) == 0 {
			for run, err := range f.pick(cmd, c) {
				if err != nil {
					return err
				}
				if fits(run.Status) {
					ids = append(ids, run.RunID)
				}
			}
			if len(ids) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no run fits")
			}
		}
		var failed error
		for _, step := range steps {
			ids = slices.DeleteFunc(ids, func(id messages.RunID) bool {
				says, err := step(cmd.Context(), c, id)
				if err == nil && says != "" {
					fmt.Fprintln(cmd.ErrOrStderr(), says)
				}
				failed = errors.Join(failed, err)
				return err != nil
			})
		}
		return failed
	}
}
