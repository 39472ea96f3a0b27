package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: settings.Helping,
		Short:   "Print the version",
		Example: "  lastword version --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return terminal.PrintJSON(cmd.OutOrStdout(), host.ThisBuild())
			}
			return printVersion(cmd)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(cmd *cobra.Command) error {
	about := host.ThisBuild()
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "lastword %s, %s, %s %s\n", about.Full(), about.Wire, about.Go,
		about.Platform)
	return err
}
