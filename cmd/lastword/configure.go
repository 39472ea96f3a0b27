package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// configure gives the flags of a command that works what the command line leaves open. The other commands need no
// settings, and work where the settings are at fault.
func configure(cmd *cobra.Command, args []string, named string) error {
	if cmd.GroupID != working {
		return nil
	}
	s, err := configuration(cmd.Root(), named, foldersRead(cmd, args))
	if err != nil {
		return err
	}
	if err := s.apply(secretsOf(cmd.Context())); err != nil {
		return err
	}
	quiet := cmd.Flags().Lookup("quiet")
	for _, from := range s.layers {
		if from.skipped && from.found && (quiet == nil || quiet.Value.String() != "true") {
			fmt.Fprintf(cmd.ErrOrStderr(), "lastword: %s is not used: it belongs to the repository that is being read; "+
				"--config %s uses it\n", from.file, projectFile)
		}
	}
	return nil
}
