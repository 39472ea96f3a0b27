package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// group returns a command whose subcommands send requests to the server named by its flags.
func group(p *host.Program, name string) (*cobra.Command, *host.Remote) {
	remote := &host.Remote{Program: p}
	cmd := settings.Parent(name)
	remote.AddFlags(cmd.PersistentFlags(), "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	return cmd, remote
}

// asking returns a subcommand that sends a request to the server. takes describes its arguments, for an error.
func asking(remote *host.Remote, use, takes string, run func(*cobra.Command, []string, *api.Client) error) *cobra.Command {
	return &cobra.Command{Use: use, RunE: remote.Ask(run), Args: func(cmd *cobra.Command, args []string) error {
		hint := ""
		if group := cmd.Parent(); strings.Contains(use, "<run") {
			hint = "lastword runs ls lists them"
		} else if group.HasParent() {
			hint = group.CommandPath() + " ls lists them"
		}
		return exit.Takes(strings.Count(use, "<"), "takes "+takes, hint)(cmd, args)
	}}
}
