package settings

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Configure gives the flags of a command that works what the command line leaves open. The other commands need no
// settings, and work where the settings are at fault.
func Configure(cmd *cobra.Command, args []string, named string) error {
	if cmd.GroupID != Working {
		return nil
	}
	s, err := Load(cmd.Root(), named, foldersRead(cmd, args))
	if err != nil {
		return err
	}
	if err := s.Apply(SecretsOf(cmd.Context())); err != nil {
		return err
	}
	quiet := cmd.Flags().Lookup("quiet")
	for _, from := range s.Layers {
		if from.skipped && from.Found && (quiet == nil || quiet.Value.String() != "true") {
			fmt.Fprintf(cmd.ErrOrStderr(), "lastword: %s is not used: it belongs to the repository that is being read; "+
				"--config %s uses it\n", from.File, projectFile)
		}
	}
	return nil
}
