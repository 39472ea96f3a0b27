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
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			about := host.ThisBuild()
			if asJSON {
				return terminal.PrintJSON(cmd.OutOrStdout(), about)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lastword %s, %s, %s %s\n",
				about.Full(), about.Wire, about.Go, about.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
