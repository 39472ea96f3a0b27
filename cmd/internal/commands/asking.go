package commands

import (
	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// group returns a command whose subcommands send requests to the server named by its flags.
func group(p *host.Program, name, short, long, example string) (*cobra.Command, *host.Remote) {
	at := &host.Remote{Program: p}
	cmd := &cobra.Command{
		Use: name, GroupID: settings.Working, Short: short, Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddGroup(&cobra.Group{ID: settings.Working, Title: "Commands:"})
	at.AddFlags(cmd, cmd.PersistentFlags(), "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	return cmd, at
}

// argument describes the only argument of a subcommand: in its usage, in an error, and in its example. The zero
// argument means that there is none.
type argument struct{ usage, words, example string }

// asking returns a subcommand that sends a request to the server.
func asking(at *host.Remote, group, action string, takes argument, short string,
	run func(*cobra.Command, []string, *api.Client) error) *cobra.Command {
	want, words := 1, takes.words
	if takes == (argument{}) {
		want, words = 0, " no argument"
	}
	return &cobra.Command{
		Use: action + takes.usage, Short: short, Example: "  lastword " + group + " " + action + takes.example,
		Args: exit.Takes(want, "takes"+words, ""),
		RunE: at.Ask(run),
	}
}
