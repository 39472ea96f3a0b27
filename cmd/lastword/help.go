package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// knownCommand is asked when an argument stands where a command is named.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // a short word is near to everything
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return exit.BadUsage(cmd, fmt.Errorf("unknown command %q", args[0]), hint)
}

// noCommand prints the help as an answer to a mistake: on stderr.
func noCommand(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	if err := cmd.Help(); err != nil {
		return err
	}
	return &exit.Error{Code: exit.Usage}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		GroupID: settings.Helping,
		Short:   "Say what a command does",
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

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.BadUsage(cmd, fmt.Errorf("%s takes no arguments", cmd.Name()), "")
	}
	return nil
}

// wrapped keeps the lines of a command's help within 100 columns.
func wrapped(template string) string {
	return strings.ReplaceAll(template, ".FlagUsages ", ".FlagUsagesWrapped 100 ")
}
