package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/words"
)

// listCommand returns the command that shows the servers of --wrap.
func (s *mcpOptions) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "ls",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		Annotations:       map[string]string{settings.ReadsCurrent: "always"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			servers, err := s.See(cmd.Context())
			if err != nil {
				return err
			}
			rows, down := [][]string{{"SERVER", "STATE", "TOOLS", "PROBLEM"}}, 0
			for _, one := range servers {
				if one.Problem != "" {
					down++
				}
				rows = append(rows, []string{one.Name, one.State, words.Printable(strings.Join(one.Tools, " ")), words.Printable(one.Problem)})
			}
			if err := terminal.Rows(cmd.OutOrStdout(), rows); err != nil || down == 0 {
				return err
			}
			return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("%s down", words.Count(down, "server"))}
		},
	}
}

// approveCommand returns the command that approves wrapped tools that have changed.
func approveCommand(p *host.Program) *cobra.Command {
	return &cobra.Command{
		Use:               "approve [server/tool]...",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			tools, err := p.ApproveWrapped(args)
			for _, name := range tools {
				fmt.Fprintln(cmd.OutOrStdout(), words.Printable(name))
			}
			return err
		},
	}
}
