package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

// helpColumns is the width of help texts.
const helpColumns = 80

// knownCommand returns an error if an argument is given instead of the name of a subcommand.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // a short word is similar to everything
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return exit.BadUsage(cmd, fmt.Errorf("unknown command %q", args[0]), hint)
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		GroupID: settings.Helping,
		Short:   "Explain a command",
		Example: "  lastword help generate",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return knownCommand(cmd.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

var noArguments = exit.Takes(0, "takes no arguments", "")

// exitCodes returns the last paragraph of a command's help.
func exitCodes(codes ...int) string {
	words := make([]string, len(codes))
	for i, code := range codes {
		words[i] = fmt.Sprintf("%d %s", code, exit.Meaning(code))
	}
	return "\n\nExit codes: " + strings.Join(words, ", ") + "."
}

// runExits returns the exit codes of a command that runs a job.
func runExits() string {
	return exitCodes(exit.Completed, exit.Failed, exit.Usage, exit.Configuration, exit.Provider, exit.Limit,
		exit.Timeout,
		exit.Interrupted, exit.Terminated)
}

// helpText returns the help of a command.
func helpText(cmd *cobra.Command) string {
	return terminal.Wrap(terminal.About(cmd), helpColumns) + "\n\n" + usageText(cmd)
}

// usageText returns the command's usage, examples, subcommands and flags.
func usageText(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", terminal.UsageLine(cmd))
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	groups := cmd.Groups()
	if len(groups) < 2 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, g := range groups {
		var lines strings.Builder
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && (sub.GroupID == g.ID || len(groups) == 1) {
				fmt.Fprintf(&lines, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
		if lines.Len() > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", g.Title, lines.String())
		}
	}
	for _, g := range flagGroups(cmd) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(helpColumns))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s help COMMAND explains a command.\n", cmd.Root().Name())
	}
	return b.String()
}

// commonFlags is the title of the flags that all commands have.
const commonFlags = "Flags of every command"

// flagGroup is a group of a command's flags with its title.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups returns the command's flags in the order of their definition, and finally those of all commands.
func flagGroups(cmd *cobra.Command) (groups []flagGroup) {
	cmd.InitDefaultHelpFlag()
	add := func(title string, f *pflag.Flag) {
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, flagGroup{title, pflag.NewFlagSet("", pflag.ContinueOnError)})
			groups[i].flags.SortFlags = false
		}
		groups[i].flags.AddFlag(f)
	}
	show := func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			add(cmp.Or(settings.GroupOf(f), "Flags"), f)
		}
	}
	cmd.LocalFlags().VisitAll(show)
	cmd.InheritedFlags().VisitAll(show)
	add(commonFlags, cmd.Flags().Lookup("help"))
	return groups
}
