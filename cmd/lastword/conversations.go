package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

func conversationsCommand(p *host.Program) *cobra.Command {
	k := &keptConversations{program: p}
	cmd := settings.Parent("conversations", k.list(), k.show(), k.rename(), k.fork(), k.remove())
	cmd.PersistentFlags().StringVar(&k.dir, "state", "", "`folder` of the --state of chat (default: the one that chat uses without it)")
	settings.FlagOnly(cmd.PersistentFlags(), "state")
	return cmd
}

// keptConversations holds the flags of the command conversations.
type keptConversations struct {
	program *host.Program
	dir     string
}

// open opens the store of conversations in the state folder.
func (k *keptConversations) open(cmd *cobra.Command) (*conversation.Store, error) {
	dir, err := stateFolder(cmd, k.program, k.dir, "chat.state")
	if err != nil {
		return nil, exit.Misconfigured(err)
	}
	return host.OpenConversations(dir)
}

// about returns a command for one conversation, whose id is the first argument.
func (k *keptConversations) about(use string, do func(out io.Writer, conversations *conversation.Store, id string, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use,
		Args: exit.Takes(strings.Count(use, "<"), "takes "+use[strings.Index(use, "<"):], "lastword conversations ls lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			conversations, err := k.open(cmd)
			if err != nil {
				return err
			}
			id, err := conversations.Find(args[0])
			if messages.CodeOf(err) == messages.CodeNotFound {
				err = fmt.Errorf("%w; lastword conversations ls lists them", err)
			}
			if err != nil {
				return err
			}
			return do(cmd.OutOrStdout(), conversations, id, args[1:])
		}}
}

func (k *keptConversations) list() *cobra.Command {
	var text string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls",
		RunE: func(cmd *cobra.Command, _ []string) error {
			conversations, err := k.open(cmd)
			if err != nil {
				return err
			}
			list, err := conversations.Search(text)
			if err != nil {
				return err
			}
			none := "there is no conversation yet"
			if text != "" {
				none = "no conversation contains the text"
			}
			return printConversations(cmd, list, asJSON, none)
		},
	}
	cmd.Flags().StringVar(&text, "search", "", "only conversations that contain this `text`, in upper or lower case")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// printConversations prints a table, or a JSON object per line. none says that there is no conversation. The table estimates tokens from bytes.
func printConversations(cmd *cobra.Command, list []conversation.Info, asJSON bool, none string) error {
	if asJSON {
		return terminal.PrintLines(cmd.OutOrStdout(), list)
	}
	const bytesOfToken = 4 // for most texts
	rows := [][]string{{"CONVERSATION", "TURNS", "TOKENS", "LAST", "TITLE"}}
	for _, c := range list {
		rows = append(rows, []string{c.ID, fmt.Sprint(c.Turns), fmt.Sprint("~", c.Bytes/bytesOfToken),
			fmt.Sprint(time.Since(c.Updated).Round(time.Second), " ago"), c.Title})
	}
	return terminal.List(cmd, rows, none)
}

func (k *keptConversations) show() *cobra.Command {
	return k.about("show <id>",
		func(out io.Writer, conversations *conversation.Store, id string, _ []string) error {
			var text strings.Builder
			if err := conversations.Export(&text, id); err != nil {
				return err
			}
			_, err := io.WriteString(out, words.WithoutControls(text.String()))
			return err
		})
}

func (k *keptConversations) rename() *cobra.Command {
	return k.about("rename <id> <title>",
		func(_ io.Writer, conversations *conversation.Store, id string, args []string) error {
			return conversations.Rename(id, args[0])
		})
}

func (k *keptConversations) fork() *cobra.Command {
	turns := 0
	cmd := k.about("fork <id>",
		func(out io.Writer, conversations *conversation.Store, id string, _ []string) error {
			if turns < 0 {
				return messages.InvalidInput("--turns must not be negative")
			}
			other, err := conversations.Fork(id, turns)
			if err == nil {
				_, err = fmt.Fprintln(out, other)
			}
			return err
		})
	cmd.Flags().IntVar(&turns, "turns", 0, "maximum `number` of turns to copy (default: all)")
	return cmd
}

func (k *keptConversations) remove() *cobra.Command {
	return k.about("rm <id>",
		func(_ io.Writer, conversations *conversation.Store, id string, _ []string) error {
			return conversations.Delete(id)
		})
}
