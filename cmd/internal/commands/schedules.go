package commands

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/schedule"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// SchedulesCommand is schedules with its subcommands.
func SchedulesCommand(p *host.Program) *cobra.Command {
	at := &host.Remote{Program: p}
	cmd := &cobra.Command{
		Use:     "schedules",
		GroupID: settings.Working,
		Short:   "List, run and pause the schedules of a server",
		Long: `Schedules asks a server, as lastword runs does, for the schedules of its operator's file: lastword serve --jobs FILE.
docs/commands.md describes the file.`,
		Example: `  lastword schedules ls
  lastword schedules run nightly
  lastword schedules pause nightly`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddGroup(&cobra.Group{ID: settings.Working, Title: "Commands:"})
	at.AddFlags(cmd, cmd.PersistentFlags(), "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	cmd.AddCommand(scheduleCommand(at, "ls", "", "List the schedules, when they come, and their last runs"),
		scheduleCommand(at, "run", " <name>", "Start a schedule's job now"),
		scheduleCommand(at, "pause", " <name>", "Let a schedule start nothing"),
		scheduleCommand(at, "resume", " <name>", "Let a paused schedule go on"))
	return cmd
}

func scheduleCommand(at *host.Remote, action, name, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: action + name, Short: short, Example: "  lastword schedules " + action + map[bool]string{true: " nightly"}[name != ""],
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) != (name != "") || len(args) > 1 {
				return exit.BadUsage(cmd, errors.New("schedules "+action+map[bool]string{true: " takes one name", false: " takes no argument"}[name != ""]), "")
			}
			return nil
		},
	}
	cmd.RunE = at.Ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
		in := schedule.Input{Action: action}
		if len(args) > 0 {
			in.Name = args[0]
		}
		lines, err := ask(cmd, c, in)
		if err != nil {
			return err
		}
		return print(cmd.OutOrStdout(), lines)
	})
	return cmd
}

// ask runs the job schedules at the server.
func ask(cmd *cobra.Command, c *api.Client, in schedule.Input) (lines []schedule.Line, err error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	id, err := c.Submit(cmd.Context(), messages.Request{Job: schedule.Name, Input: input, Key: rand.Text()})
	if err != nil {
		return nil, err
	}
	var state messages.State
	for e, err := range c.Follow(cmd.Context(), id, messages.Follow{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case state.End == nil:
		return nil, messages.Errorf(messages.CodeUnavailable, "the server has not answered; try again")
	case state.End.Error != nil:
		return nil, state.End.Error
	}
	return lines, json.Unmarshal(state.End.Result, &lines)
}

func print(w io.Writer, lines []schedule.Line) error {
	rows := [][]string{{"SCHEDULE", "JOB", "WHEN", "NEXT", "LAST RUN", "STATUS"}}
	for _, l := range lines {
		next := l.Next.Local().Format(time.DateTime)
		if l.Paused {
			next = "paused"
		}
		rows = append(rows, []string{l.Name, l.Job, l.When, next, string(l.Run), string(l.Status)})
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "there are no schedules")
		return err
	}
	return table(w, rows)
}

func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Printable(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
