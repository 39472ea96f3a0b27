package commands

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// group is a command whose subcommands ask the server of its flags.
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

// argument is the one argument of a subcommand: in its usage, in the words of an error, and in its example. The zero
// argument is none.
type argument struct{ usage, words, example string }

// asking is a subcommand that asks the server.
func asking(at *host.Remote, group, action string, takes argument, short string,
	run func(*cobra.Command, []string, *api.Client) error) *cobra.Command {
	want, words := 1, takes.words
	if takes == (argument{}) {
		want, words = 0, " no argument"
	}
	return &cobra.Command{
		Use: action + takes.usage, Short: short, Example: "  lastword " + group + " " + action + takes.example,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != want {
				return exit.BadUsage(cmd, errors.New(group+" "+action+" takes"+words), "")
			}
			return nil
		},
		RunE: at.Ask(run),
	}
}

func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Printable(row[i])
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}
