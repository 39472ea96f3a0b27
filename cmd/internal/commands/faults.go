package commands

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/supervision/fault"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// FaultCommand returns the command fault with its subcommands.
func FaultCommand(p *host.Program) *cobra.Command {
	cmd, remote := group(p, "fault")
	var rule fault.Rule
	arm := faultCommand(remote, "arm <point>", "one point", &rule)
	flags := arm.Flags()
	flags.StringVar(&rule.Job, "job", "", "`name` of the job whose runs get the fault (default: all)")
	flags.StringVar(&rule.Task, "task", "", "`name` of the task that gets the fault (default: all)")
	flags.StringVar(&rule.At, "at", "", "`place` in the task: work begins, work returns, or the kind of an event")
	flags.Float64Var(&rule.Probability, "probability", 1, "`probability` that it happens each time, from 0 to 1")
	flags.Uint64Var(&rule.Seed, "seed", 0, "`number` that seeds the random choice, to repeat it")
	flags.IntVar(&rule.Count, "count", 0, "maximum `number` of times that it happens; 0 is no limit")
	flags.DurationVar((*time.Duration)(&rule.Expires), "expires", 0, "`time` after which the fault is disarmed")
	flags.DurationVar((*time.Duration)(&rule.For), "for", 0, "`time` that the fault lasts, if it has a duration")
	disarm := faultCommand(remote, "disarm [point]", "", new(fault.Rule))
	disarm.Args = exit.TakesSome(0, 1, "takes one point, or none for all", "")
	cmd.AddCommand(faultCommand(remote, "ls", "no arguments", new(fault.Rule)), arm, disarm)
	return cmd
}

// faultCommand returns a command that asks the server for an action and prints the faults that are armed then.
func faultCommand(remote *host.Remote, use, takes string, rule *fault.Rule) *cobra.Command {
	return asking(remote, use, takes, func(cmd *cobra.Command, args []string, c *api.Client) error {
		action := cmd.Name()
		if action == "arm" && rule.Probability <= 0 {
			return exit.BadUsage(cmd, errors.New("--probability must be more than 0, and 1 at most"), "")
		}
		if len(args) > 0 {
			rule.Point = fault.Point(args[0])
		}
		var lines []host.FaultLine
		if err := c.Faults(cmd.Context(), host.FaultOrder{Action: action, Rule: *rule}, &lines); err != nil {
			return err
		}
		return printFaults(cmd, lines, action == "ls")
	})
}

// printFaults prints the fault points; without all, only those that have rules.
func printFaults(cmd *cobra.Command, lines []host.FaultLine, all bool) error {
	rows := [][]string{{"POINT", "RULE", "FIRED", "WHAT HAPPENS"}}
	for _, l := range lines {
		for _, r := range l.Rules {
			rows = append(rows, []string{string(l.Point), ruleText(r.Rule), fmt.Sprint(r.Fired), l.What})
		}
		if all && len(l.Rules) == 0 {
			rows = append(rows, []string{string(l.Point), "", "", l.What})
		}
	}
	none := "no fault is armed"
	if all {
		none = "no fault can be armed at this server: it needs lastword serve --enable-faults"
	}
	return terminal.List(cmd, rows, none)
}

// ruleText says when a rule fires.
func ruleText(r fault.Rule) (text string) {
	add := func(format string, value any, is bool) {
		if is {
			text += fmt.Sprintf(format, value)
		}
	}
	add("%v of all", cmp.Or(r.Probability, 1), r.Probability > 0 && r.Probability < 1)
	add(" job %s", r.Job, r.Job != "")
	add(" task %s", r.Task, r.Task != "")
	add(" at %s", r.At, r.At != "")
	add(" %d times", r.Count, r.Count > 0)
	add(" within %v", time.Duration(r.Expires), r.Expires > 0)
	add(" for %v", time.Duration(r.For), r.For > 0)
	return cmp.Or(strings.TrimSpace(text), "always")
}
