package commands

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/webhook"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// WebhooksCommand is webhooks with its subcommands.
func WebhooksCommand(p *host.Program) *cobra.Command {
	at := &host.Remote{Program: p}
	cmd := &cobra.Command{
		Use:     "webhooks",
		GroupID: settings.Working,
		Short:   "List and test the webhooks of a server, and send events again",
		Long: `Webhooks asks a server for the receivers of its operator's file: lastword serve --webhooks FILE. Where the server asks for
a token, it must have the scope admin. docs/webhooks.md describes the file and what receivers get.`,
		Example: `  lastword webhooks ls
  lastword webhooks test billing
  lastword webhooks resend r_k66hldz6ofnwat4rgzpadp2myg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddGroup(&cobra.Group{ID: settings.Working, Title: "Commands:"})
	at.AddFlags(cmd, cmd.PersistentFlags(), "`URL` of the server, or unix:PATH (default "+host.DefaultServer+")")
	resend := webhookCommand(at, "resend", " <run-id>", "Send the events of a run again, under the same webhook-id")
	resend.Flags().String("to", "", "`name` of the only webhook to send to")
	cmd.AddCommand(webhookCommand(at, "ls", "", "List the webhooks, and what they have not got"), resend,
		webhookCommand(at, "test", " <name>", "Send a webhook.test now, and say whether it is taken"))
	return cmd
}

func webhookCommand(at *host.Remote, action, argument, short string) *cobra.Command {
	example := map[string]string{"": "", " <name>": " billing", " <run-id>": " r_k66hldz6ofnwat4rgzpadp2myg"}[argument]
	cmd := &cobra.Command{
		Use: action + argument, Short: short, Example: "  lastword webhooks " + action + example, DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if want := min(len(argument), 1); len(args) != want {
				return exit.BadUsage(cmd, errors.New("webhooks "+action+" takes"+map[bool]string{true: argument, false: " no argument"}[want == 1]), "")
			}
			return nil
		},
	}
	cmd.RunE = at.Ask(func(cmd *cobra.Command, args []string, c *api.Client) error {
		order := webhook.Order{Action: action}
		switch action {
		case "test":
			order.Name = args[0]
		case "resend":
			order.Run = messages.RunID(args[0])
			order.Name, _ = cmd.Flags().GetString("to")
		}
		var lines []webhook.Line
		if err := c.Webhooks(cmd.Context(), order, &lines); err != nil {
			return err
		}
		if action == "test" {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has taken it\n", terminal.Printable(order.Name))
			return err
		}
		return printWebhooks(cmd.OutOrStdout(), lines)
	})
	return cmd
}

func printWebhooks(w io.Writer, lines []webhook.Line) error {
	rows, lost := [][]string{{"WEBHOOK", "HOST", "DELIVERED", "TRYING", "GIVEN UP"}}, [][]string{{"GIVEN UP", "RUN", "WEBHOOK", "WHY"}}
	for _, l := range lines {
		rows = append(rows, []string{l.Name, l.URL, strconv.Itoa(l.Delivered), strconv.Itoa(l.Trying), strconv.Itoa(len(l.GivenUp))})
		for _, g := range l.GivenUp {
			lost = append(lost, []string{g.At.Local().Format(time.DateTime), string(g.Run), l.Name, g.Why})
		}
	}
	if err := table(w, rows); err != nil || len(lost) == 1 {
		return err
	}
	fmt.Fprintln(w)
	return table(w, lost)
}
