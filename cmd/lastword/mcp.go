package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/cmd/internal/toolbox"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// mcpOptions holds the flags of mcp.
type mcpOptions struct {
	host.Flags
	printConfig, url string
	at               host.Remote // the server of --server
}

func mcpCommand(p *host.Program) *cobra.Command {
	var s mcpOptions
	cmd := &cobra.Command{
		Use:         "mcp",
		Annotations: map[string]string{settings.ReadsCurrent: "always"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	settings.Group(flags, "Settings for a client", func() {
		flags.StringVar(&s.printConfig, "print-config", "", "print the settings for this `client` and exit")
		flags.StringVar(&s.url, "url", "", "`URL` of a running server for --print-config")
	})
	s.Flags.AddFlags(cmd, flags, p)
	s.at.Program = p
	settings.Group(flags, "Server", func() {
		s.at.AddFlags(flags, "`URL` of a running server to connect the client with, or unix:PATH")
	})
	settings.Group(flags, "Runs", func() {
		s.Store.AddState(flags)
		s.Store.AddEphemeral(flags)
	})
	settings.Group(flags, "Repository", func() { s.Read.AddFlags(flags) })
	settings.FlagOnly(flags, "print-config", "url", "server")
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
	case s.at.URL != "":
		return s.relay(cmd)
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

// relay connects the client with the server of --server.
func (s *mcpOptions) relay(cmd *cobra.Command) error {
	works := []string{"server", "token-file", "drain"}
	err := settings.WithoutEffect(cmd, "with --server", func(f *pflag.Flag) bool {
		return slices.Contains(works, f.Name) || cmd.InheritedFlags().Lookup(f.Name) != nil
	})
	if err != nil {
		return exit.BadUsage(cmd, err, "")
	}
	token, err := s.at.Token()
	if err != nil {
		return err
	}
	return toolbox.Relay(cmd.Context(), s.at.URL, token, s.Drain, cmd.InOrStdin(), terminal.Unwrap(cmd.OutOrStdout()).(io.Writer))
}

// mcpLoginCommand is the only command that opens a browser for a server's login.
func mcpLoginCommand(p *host.Program) *cobra.Command {
	var tools toolbox.Flags
	var client source.Client
	var secret string
	cmd := &cobra.Command{
		Use:               "login NAME",
		Args:              exit.Takes(1, "needs the name of one MCP server", ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := tools.Remote(args[0], p.Env, p.Secrets)
			if err != nil {
				return err
			}
			if secret != "" {
				text, err := regular.Read(secret, regular.Small)
				if err != nil {
					return messages.InvalidInput("the client's secret: %v", err)
				}
				client.Secret = strings.TrimSpace(string(text))
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
	tools.AddServerFlag(flags)
	flags.StringVar(&client.ID, "client-id", "", "`id` of this program at the authorization server (default: it registers itself)")
	flags.StringVar(&secret, "client-secret", "", "`file` with the secret of --client-id, if it has one")
	flags.StringSliceVar(&client.Scopes, "scope", nil, "`scopes` to ask for (default: those that the server names)")
	settings.ByOperator(flags)
	return cmd
}

// listCommand returns the command that shows the servers of --wrap.
func (s *mcpOptions) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "ls",
		Annotations: map[string]string{settings.ReadsCurrent: "always"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			servers, err := s.See(cmd.Context(), func(late source.Server) {
				fmt.Fprintf(cmd.ErrOrStderr(), "lastword: waits for the server %s, for %s at most\n", late.Name, late.StartTimeout)
			})
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
			if err := terminal.List(cmd, rows, "no server is named; give --wrap NAME='COMMAND ARG …'"); err != nil || down == 0 {
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
			if err == nil && len(tools) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no tool has changed since it was approved")
			}
			return err
		},
	}
}
