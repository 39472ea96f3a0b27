package commands

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/schedule"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// SchedulesCommand returns the command schedules with its subcommands.
func SchedulesCommand(p *host.Program) *cobra.Command {
	cmd, remote := group(p, "schedules")
	cmd.AddCommand(scheduleCommand(remote, "ls", "no arguments"), scheduleCommand(remote, "run <name>", "one schedule"),
		scheduleCommand(remote, "pause <name>", "one schedule"), scheduleCommand(remote, "resume <name>", "one schedule"))
	return cmd
}

// scheduleCommand returns a command that sends the server an order and prints its answer.
func scheduleCommand(remote *host.Remote, use, takes string) *cobra.Command {
	return asking(remote, use, takes, func(cmd *cobra.Command, args []string, c *api.Client) error {
		var lines []schedule.Line
		if err := c.Schedules(cmd.Context(), schedule.Order{Action: cmd.Name(), Name: strings.Join(args, "")}, &lines); err != nil {
			return err
		}
		return print(cmd, lines)
	})
}

// print prints the schedules as a table.
func print(cmd *cobra.Command, lines []schedule.Line) error {
	rows := [][]string{{"SCHEDULE", "JOB", "WHEN", "NEXT", "LAST RUN", "STATUS", "DROPPED", "NOTE"}}
	for _, l := range lines {
		next := l.Next.Local().Format(time.DateTime + " MST")
		if l.Paused {
			next = "paused"
		}
		rows = append(rows, []string{l.Name, l.Job, l.When, next, string(l.Run), string(l.Status), strconv.Itoa(l.Dropped), l.Note})
	}
	return terminal.List(cmd, rows, "the server has no schedules; its operator gives them in the file of --jobs")
}
