package commands

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// WebhooksCommand returns the command webhooks with its subcommands.
func WebhooksCommand(p *host.Program) *cobra.Command {
	cmd, remote := group(p, "webhooks")
	resend := webhookCommand(remote, "resend <run-id>", "the id of one run")
	resend.Flags().String("to", "", "`name` of the webhook to send to (default: all)")
	cmd.AddCommand(webhookCommand(remote, "ls", "no arguments"), resend, webhookCommand(remote, "test <name>", "one webhook"))
	return cmd
}

// webhookCommand returns a command that asks the server for an action and prints the webhooks.
func webhookCommand(remote *host.Remote, use, takes string) *cobra.Command {
	return asking(remote, use, takes, func(cmd *cobra.Command, args []string, c *api.Client) error {
		action := cmd.Name()
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
		return printWebhooks(cmd, lines)
	})
}

// printWebhooks prints the webhooks, and below them the deliveries that were given up.
func printWebhooks(cmd *cobra.Command, lines []webhook.Line) error {
	rows, lost := [][]string{{"WEBHOOK", "HOST", "DELIVERED", "TRYING", "GIVEN UP"}}, [][]string{{"GIVEN UP", "RUN", "WEBHOOK", "WHY"}}
	for _, l := range lines {
		rows = append(rows, []string{l.Name, l.URL, strconv.Itoa(l.Delivered), strconv.Itoa(l.Trying), strconv.Itoa(len(l.GivenUp))})
		for _, g := range l.GivenUp {
			lost = append(lost, []string{g.At.Local().Format(time.DateTime), string(g.Run), l.Name, g.Why})
		}
	}
	none := "the server has no webhooks; its operator gives them with lastword serve --webhooks FILE"
	if err := terminal.List(cmd, rows, none); err != nil || len(lost) == 1 {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout())
	return terminal.Rows(cmd.OutOrStdout(), lost)
}
