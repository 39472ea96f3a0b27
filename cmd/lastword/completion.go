package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// shells returns the supported shells.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "completion <" + strings.Join(shells(), "|") + ">",
		GroupID: settings.Helping,
		Short:   "Print a script for command line completion in a shell",
		Long: `Completion prints a script that makes a shell complete commands, flags, their values, folders and the names
of models. Save it where the shell looks for such scripts:

  bash        lastword completion bash >\
                ~/.local/share/bash-completion/completions/lastword
  zsh         lastword completion zsh >"${fpath[1]}/_lastword"
  fish        lastword completion fish >~/.config/fish/completions/lastword.fish
  powershell  lastword completion powershell | Out-String | Invoke-Expression`,
		Example:   "  source <(lastword completion bash)",
		Args:      oneShell,
		ValidArgs: shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return root.GenPowerShellCompletionWithDesc(out)
		},
	}
}

func oneShell(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || !slices.Contains(shells(), args[0]) {
		return exit.BadUsage(cmd, errors.New("completion needs the name of a shell"), "the shells are "+strings.Join(shells(), ", "))
	}
	return nil
}
