package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man [folder]",
		GroupID: settings.Helping,
		Short:   "Write the manual pages of all commands into a folder",
		Long: `Man writes a manual page for each command into the folder, which it makes if missing. Without a folder it
prints the page of lastword itself.`,
		Example: `  lastword man | man -l -
  lastword man ~/.local/share/man/man1`,
		Args:              atMostOne,
		ValidArgsFunction: folders,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := io.WriteString(cmd.OutOrStdout(), terminal.ManPage(cmd.Root(), build.This().Version))
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot make the folder %s: %w", args[0],
					exit.Reason(err))}
			}
			return writePages(args[0], cmd.Root())
		},
	}
}

// writePages writes the page of a command, and those of the commands below it.
func writePages(folder string, cmd *cobra.Command) error {
	if err := os.WriteFile(filepath.Join(folder, terminal.PageName(cmd)+".1"), []byte(terminal.ManPage(cmd,
		build.This().Version)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := writePages(folder, sub); err != nil {
			return err
		}
	}
	return nil
}
