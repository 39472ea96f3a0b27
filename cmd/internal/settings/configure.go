package settings

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages/redact"
)

// Configure gives the flags of a command that works what the command line leaves open. The other commands need no
// settings, and work where the settings are at fault.
func Configure(cmd *cobra.Command, args []string, env environment.Variables, named string, known *redact.Secrets) error {
	if cmd.GroupID != Working {
		return nil
	}
	s, err := Load(cmd.Root(), env, named, foldersRead(cmd, args))
	if err != nil {
		return err
	}
	if err := s.Apply(known); err != nil {
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
