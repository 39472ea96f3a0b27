package commands

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/webhook"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// WebhooksCommand returns the command webhooks with its subcommands.
func WebhooksCommand(p *host.Program) *cobra.Command {
	cmd, at := group(p, "webhooks", "List and test the webhooks of a server, and send events again",
		`Webhooks lists and tests the webhooks in the file of lastword serve --webhooks. If the server asks for a token, the token
needs the scope admin. docs/webhooks.md describes the file, and what webhooks get.`, `  lastword webhooks ls
  lastword webhooks test billing
  lastword webhooks resend r_k66hldz6ofnwat4rgzpadp2myg`)
	resend := webhookCommand(at, "resend", argument{" <run-id>", " <run-id>", " r_k66hldz6ofnwat4rgzpadp2myg"},
		"Send the events of a run again, under the same webhook-id")
	resend.Flags().String("to", "", "`name` of the webhook to send to (default: all)")
	cmd.AddCommand(webhookCommand(at, "ls", argument{}, "List the webhooks, and the events that could not be delivered"), resend,
		webhookCommand(at, "test", argument{" <name>", " <name>", " billing"}, "Send a webhook.test now, and say whether the receiver accepted it"))
	return cmd
}

// webhookCommand returns a command that asks the server for an action and prints the webhooks.
func webhookCommand(at *host.Remote, action string, takes argument, short string) *cobra.Command {
	return asking(at, "webhooks", action, takes, short, func(cmd *cobra.Command, args []string, c *api.Client) error {
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
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has taken it\n", words.Printable(order.Name))
			return err
		}
		return printWebhooks(cmd.OutOrStdout(), lines)
	})
}

// printWebhooks prints the webhooks, and below them the deliveries that were given up.
func printWebhooks(w io.Writer, lines []webhook.Line) error {
	rows, lost := [][]string{{"WEBHOOK", "HOST", "DELIVERED", "TRYING", "GIVEN UP"}}, [][]string{{"GIVEN UP", "RUN", "WEBHOOK", "WHY"}}
	for _, l := range lines {
		rows = append(rows, []string{l.Name, l.URL, strconv.Itoa(l.Delivered), strconv.Itoa(l.Trying), strconv.Itoa(len(l.GivenUp))})
		for _, g := range l.GivenUp {
			lost = append(lost, []string{g.At.Local().Format(time.DateTime), string(g.Run), l.Name, g.Why})
		}
	}
	if err := terminal.Rows(w, rows); err != nil || len(lost) == 1 {
		return err
	}
	fmt.Fprintln(w)
	return terminal.Rows(w, lost)
}
