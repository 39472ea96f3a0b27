package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// account is a line of lastword budget: what some runs have spent together.
type account struct {
	Name      string          `json:"name"`
	Runs      int             `json:"runs"`
	Spent     messages.Budget `json:"spent"`
	Estimated bool            `json:"estimated,omitempty"`
	Left      string          `json:"left,omitempty"` // of a run with a budget
}

// budgetCommand returns the command that sums up what runs have spent. Sub-runs count with their parents.
func budgetCommand(p *host.Program) *cobra.Command {
	remote, f := &host.Remote{Program: p}, filter{}
	by, limit, asJSON := "", 0, false
	cmd := &cobra.Command{
		Use:  "budget [run]",
		Args: exit.TakesSome(0, 1, "takes one run at most", "lastword runs ls lists them"),
		RunE: remote.Read(func(cmd *cobra.Command, args []string, c host.Source) error {
			if len(args) == 1 {
				id, err := runNamed(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				return printAccounts(cmd, c, "run", asJSON, func(yield func(found, error) bool) { tree(cmd.Context(), c, id, yield) })
			}
			n := 0
			err := printAccounts(cmd, c, by, asJSON, func(yield func(found, error) bool) {
				for run, err := range f.pick(cmd, c) {
					if n++; !yield(run, err) || n == limit {
						return
					}
				}
			})
			if server, ok := c.(*api.Client); ok && err == nil {
				err = printDays(cmd, server, asJSON, n > 0)
			}
			return err
		}),
	}
	cmd.ValidArgsFunction = completeRuns(remote)
	f.addFlags(cmd)
	flags := cmd.Flags()
	settings.Choice(cmd, flags, &by, "by", "what a line sums up", "run", "job", "principal", "day")
	flags.IntVar(&limit, "limit", 50, "maximum number of `runs` to read, the newest first; 0 is no limit")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object a line")
	settings.FlagOnly(flags, "status", "job", "label", "by", "limit", "json")
	remote.AddReadFlags(cmd, flags)
	settings.FlagOnly(cmd.PersistentFlags(), "state")
	return cmd
}

// printDays prints what principals have left of today's tokens, if the server sets a ceiling. A blank line parts it from a
// table above.
func printDays(cmd *cobra.Command, c *api.Client, asJSON, below bool) error {
	days, err := c.Days(cmd.Context())
	if len(days) == 0 || err != nil {
		if messages.CodeOf(err) == messages.CodeNotFound { // the server is of an older version
			err = nil
		}
		return err
	}
	type line struct {
		Today messages.DayTokens `json:"today"`
	}
	var lines []line
	rows := [][]string{{"PRINCIPAL", "DAY", "TOKENS", "DRAWN", "LEFT"}}
	for _, of := range days {
		lines = append(lines, line{of})
		rows = append(rows, []string{cmp.Or(of.Principal, "-"), of.Day, fmt.Sprint(of.Ceiling), fmt.Sprint(of.Drawn), fmt.Sprint(of.Left)})
	}
	if asJSON {
		return terminal.PrintLines(cmd.OutOrStdout(), lines)
	}
	if below {
		fmt.Fprintln(cmd.OutOrStdout())
	}
	return terminal.Rows(cmd.OutOrStdout(), rows)
}

// tree yields the run and its sub-runs.
func tree(ctx context.Context, c host.Source, id messages.RunID, yield func(found, error) bool) bool {
	state, err := c.State(ctx, id)
	if !yield(found{Summary: messages.Summary{RunID: id}}, err) {
		return false
	}
	for _, child := range state.Children {
		if !tree(ctx, c, child.Child, yield) {
			return false
		}
	}
	return true
}

// printAccounts reads the runs and prints what they have spent.
func printAccounts(cmd *cobra.Command, c host.Source, by string, asJSON bool, runs func(func(found, error) bool)) error {
	var list []*account
	known := map[string]*account{}
	for run, err := range runs {
		if err != nil {
			return err
		}
		state, err := c.State(cmd.Context(), run.RunID)
		if err != nil {
			return err
		}
		name := map[string]string{"job": run.Job, "principal": cmp.Or(run.Principal, "-"), "day": state.QueuedAt.UTC().Format(time.DateOnly)}[by]
		name = cmp.Or(name, string(run.RunID))
		a := known[name]
		if a == nil {
			a = &account{Name: name}
			known[name], list = a, append(list, a)
		}
		a.Runs++
		a.Spent = a.Spent.Plus(state.Spent())
		a.Estimated = a.Estimated || state.Purse != nil && state.Purse.Estimated
		if by == "run" {
			a.Left = state.Left(state.UpdatedAt).Described()
		}
	}
	if asJSON {
		return terminal.PrintLines(cmd.OutOrStdout(), list)
	}
	rows := [][]string{{"NAME", "RUNS", "SPENT", "LEFT"}}
	for _, a := range list {
		spent := cmp.Or(a.Spent.String(), "-")
		if a.Estimated {
			spent = "about " + spent
		}
		rows = append(rows, []string{a.Name, strconv.Itoa(a.Runs), spent, cmp.Or(a.Left, "-")})
	}
	return terminal.List(cmd, rows, "no run fits")
}
