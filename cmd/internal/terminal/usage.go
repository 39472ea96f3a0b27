package terminal

import (
	"strings"

	"github.com/spf13/cobra"
)

// About returns the long description of the command, or else the short one.
func About(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

// UsageLine returns how the command is called.
func UsageLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && !strings.Contains(cmd.Use, " ") { // it takes nothing itself
		return cmd.CommandPath() + " <command> [flags]"
	}
	return strings.TrimSuffix(cmd.UseLine(), " [flags]") + " [flags]"
}
