package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man [folder]",
		GroupID: helping,
		Short:   "Write the manual: a page for each command into the folder",
		Long: `Man writes a manual page for each command into the folder, which is made where it is missing.
Without a folder it prints the program's own page.`,
		Example: `  lastword man | man -l -
  lastword man ~/.local/share/man/man1`,
		DisableFlagsInUseLine: true,
		Args:                  atMostOneFolder,
		ValidArgsFunction:     folders,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := io.WriteString(cmd.OutOrStdout(), manPage(cmd.Root()))
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return &exitError{exitConfiguration, fmt.Errorf("cannot make the folder %s: %w", args[0], reason(err))}
			}
			return writePages(args[0], cmd.Root())
		},
	}
}

func atMostOneFolder(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(cmd, fmt.Errorf("man takes one folder, not %d", len(args)), "")
	}
	return nil
}

func writePages(folder string, cmd *cobra.Command) error {
	if err := os.WriteFile(filepath.Join(folder, pageName(cmd)+".1"), []byte(manPage(cmd)), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := writePages(folder, sub); err != nil {
			return err
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
