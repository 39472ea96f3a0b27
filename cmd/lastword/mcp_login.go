package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// mcpLoginCommand is the only command that opens a browser for a server's login.
func mcpLoginCommand(p *host.Program) *cobra.Command {
	var tools toolbox.Flags
	var client source.Client
	cmd := &cobra.Command{
		Use:               "login NAME",
		Args:              exit.Takes(1, "needs the name of one MCP server", ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := tools.Remote(args[0], p.Env, p.Secrets)
			if err != nil {
				return err
			}
			err = source.LogIn(cmd.Context(), server, client, func(page string) {
				fmt.Fprintf(cmd.ErrOrStderr(), "Log in at this page; Ctrl-C ends the wait:\n%s\n", page)
				browse(p.Env, page)
			})
			if err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "lastword is logged in to %s\n", server.Name)
			}
			return err
		},
	}
	flags := cmd.Flags()
	tools.AddServerFlag(cmd, flags)
	flags.StringVar(&client.ID, "client-id", "", "`id` of this program at the authorization server (default: it registers itself)")
	flags.StringSliceVar(&client.Scopes, "scope", nil, "`scopes` to ask for")
	settings.ByOperator(flags)
	return cmd
}
