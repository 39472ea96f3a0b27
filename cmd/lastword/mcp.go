package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

// mcpOptions holds the flags of mcp.
type mcpOptions struct {
	host.Flags
	printConfig, url string
}

func mcpCommand(p *host.Program) *cobra.Command {
	var s mcpOptions
	cmd := &cobra.Command{
		Use:               "mcp",
		GroupID:           settings.Working,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		Annotations:       map[string]string{settings.ReadsCurrent: "always"},
		RunE:              func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "Settings for a client", func() {
		flags.StringVar(&s.printConfig, "print-config", "", "print the settings for this `client` and exit")
		flags.StringVar(&s.url, "url", "", "`URL` of a running server for --print-config")
	})
	s.Flags.AddFlags(cmd, flags, p)
	settings.Group(flags, "Runs", func() {
		s.Store.AddState(cmd, flags)
		s.Store.AddEphemeral(flags)
	})
	settings.Group(flags, "Repository", func() { s.Read.AddFlags(flags) })
	settings.FlagOnly(flags, "print-config", "url")
	settings.ByOperator(flags)
	settings.Must(cmd.RegisterFlagCompletionFunc("print-config",
		cobra.FixedCompletions(clientList(), cobra.ShellCompDirectiveNoFileComp)))
	cmd.AddCommand(s.listCommand(), approveCommand(p), mcpLoginCommand(p))
	return cmd
}

// run serves one client over stdin and stdout, or prints the settings with which a client starts this command.
func (s *mcpOptions) run(cmd *cobra.Command) error {
	switch {
	case s.printConfig != "":
		return s.printClient(cmd)
	case cmd.Flags().Changed("print-config"):
		return exit.BadUsage(cmd, errors.New("--print-config needs the name of a client"), "the clients are "+clientNames())
	case s.url != "":
		return exit.BadUsage(cmd, errors.New("--url goes with --print-config"), "")
	}
	checked, err := s.Check(cmd, nil)
	if err != nil {
		return err
	}
	runtime, err := checked.Start(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if terminal.IsTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword: mcp waits for an agent's messages on stdin; Ctrl-C ends it. "+
			"lastword mcp --print-config CLIENT prints the settings for an agent")
	}
	stdout := terminal.Unwrap(cmd.OutOrStdout()).(io.Writer) // the server itself redacts secrets
	attached, first := host.Interruptible(cmd.Context(), func() {})
	served := runtime.Handler.Serve(attached, cmd.InOrStdin(), stdout)
	ended := runtime.Close(attached)
	if by := first(); by != nil {
		return &exit.Error{Code: exit.OfSignal(by)}
	}
	if served != nil {
		served = fmt.Errorf("cannot serve: %w", served)
	}
	return errors.Join(served, ended)
}
