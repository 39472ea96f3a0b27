package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/packed"
	"github.com/seed889630bf/lastword/internal/probe"
)

// helpColumns is the width of help texts.
const helpColumns = 80

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		GroupID: settings.Helping,
		Short:   "Explain a command",
		Example: "  lastword help generate",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return settings.KnownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noArguments refuses arguments.
var noArguments = exit.Takes(0, "takes no arguments", "")

// The help for people is help.txt; make update packs it.
//
//go:embed help.txt.gz
var packedHelp string

// describe gives each command its page of help.txt, which has parts in a fixed order: a line, a description, examples and
// exit codes.
func describe(root *cobra.Command) {
	values := strings.NewReplacer("{variables}", variables(), "{clients}", clientNames(), "{checks}", strconv.Itoa(len(probe.Checks())))
	for _, page := range strings.Split(values.Replace(strings.TrimSuffix(string(packed.Text(packedHelp)), "\n")), "\n\n== ")[1:] {
		path, page, _ := strings.Cut(page, "\n")
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		settings.Must(err)
		page, codes, _ := strings.Cut(page, "\n\nExit codes: ")
		page, cmd.Example, _ = strings.Cut(page, "\n\nExamples:\n")
		cmd.Short, cmd.Long, _ = strings.Cut(page, "\n\n")
		if codes != "" {
			cmd.Long += "\n\nExit codes: " + meanings(codes) + "."
		}
	}
}

// meanings adds its meaning to each exit code.
func meanings(codes string) string {
	words := strings.Fields(codes)
	for i := range words {
		code, err := strconv.Atoi(words[i])
		settings.Must(err)
		words[i] += " " + exit.Meanings[code]
	}
	return strings.Join(words, ", ")
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

// flagGroups returns the command's flags in the order of their definition, and finally the flags of all commands.
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

// shells returns the supported shells.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion <" + strings.Join(shells(), "|") + ">",
		Args:      oneShell,
		ValidArgs: shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return root.GenPowerShellCompletionWithDesc(out)
		},
	}
}

func oneShell(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || !slices.Contains(shells(), args[0]) {
		return exit.BadUsage(cmd, errors.New("completion needs the name of a shell"), "the shells are "+strings.Join(shells(), ", "))
	}
	return nil
}
