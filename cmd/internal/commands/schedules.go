package commands

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// SchedulesCommand returns the command schedules with its subcommands.
func SchedulesCommand(p *host.Program) *cobra.Command {
	cmd, remote := group(p, "schedules")
	list := asking(remote, "ls", "no argument", func(cmd *cobra.Command, _ []string, c *api.Client) error {
		var lines []schedule.Line
		if err := c.Schedules(cmd.Context(), &lines); err != nil {
			return err
		}
		return print(cmd.OutOrStdout(), lines)
	})
	cmd.AddCommand(list, scheduleCommand(remote, "run <name>", "one name"),
		scheduleCommand(remote, "pause <name>", "one name"), scheduleCommand(remote, "resume <name>", "one name"))
	return cmd
}

// scheduleCommand returns a command that asks the server for an action and prints its answer.
func scheduleCommand(remote *host.Remote, use, takes string) *cobra.Command {
	return asking(remote, use, takes, func(cmd *cobra.Command, args []string, c *api.Client) error {
		lines, err := ask(cmd, c, schedule.Input{Action: cmd.Name(), Name: args[0]})
		if err != nil {
			return err
		}
		return print(cmd.OutOrStdout(), lines)
	})
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
	for e, err := range c.Follow(cmd.Context(), id, messages.FollowOptions{}) {
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

// print prints the schedules as a table.
func print(w io.Writer, lines []schedule.Line) error {
	rows := [][]string{{"SCHEDULE", "JOB", "WHEN", "NEXT", "LAST RUN", "STATUS", "DROPPED", "NOTE"}}
	for _, l := range lines {
		next := l.Next.Local().Format(time.DateTime)
		if l.Paused {
			next = "paused"
		}
		rows = append(rows, []string{l.Name, l.Job, l.When, next, string(l.Run), string(l.Status), strconv.Itoa(l.Dropped), l.Note})
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, "there are no schedules")
		return err
	}
	return terminal.Rows(w, rows)
}
