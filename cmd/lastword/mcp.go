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

// speaking is what the flags of mcp say.
type speaking struct {
	host.Options
	printConfig, url string
}

func mcpCommand(p *host.Program) *cobra.Command {
	var s speaking
	cmd := &cobra.Command{
		Use:     "mcp",
		GroupID: settings.Working,
		Short:   "Serve runs to an agent as MCP tools, over stdin and stdout",
		Long: `Mcp speaks the Model Context Protocol over stdin and stdout, for a client that starts it: generate and
prompt as tools that stream, the tools run_* to start, watch, await and cancel runs, the tools lmstxt_*,
and the files that runs write as resources. docs/mcp.md has the wire.

Stdout is the protocol's alone; stderr has warnings, with --verbose more. Nothing is written before a
run writes, and then under --out alone. What stands in a .lastword.yaml of the current folder does not
count: --config .lastword.yaml uses it.

When stdin ends the runs that go on are waited for, as long as --drain says, but not those that only wait
for an answer. Ctrl-C and SIGTERM end them at once.

With --print-config the settings of a client are printed, and nothing is served:
  ` + clientNames() + `

Exit codes:
  0 stdin ended   1 runs were cut short at the end   2 usage   3 configuration
  130 Ctrl-C   143 SIGTERM`,
		Example: `  lastword mcp --out ~/artifacts
  lastword mcp --print-config claude-code >.mcp.json
  lastword mcp --print-config vscode --url https://runs.example.com/mcp`,
		DisableFlagsInUseLine: true,
		Args:                  noArguments,
		ValidArgsFunction:     cobra.NoFileCompletions,
		Annotations:           map[string]string{settings.ReadsAnything: ""},
		RunE:                  func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&s.printConfig, "print-config", "", "`client` whose settings are printed, in place of serving")
	flags.StringVar(&s.url, "url", "", "`URL` of a server that the printed settings name, in place of this program")
	s.Options.AddFlags(cmd, flags, p)
	s.Read.AddFlags(flags)
	for _, name := range []string{"print-config", "url"} {
		settings.Must(flags.SetAnnotation(name, settings.NotSetting, nil))
	}
	settings.Must(cmd.RegisterFlagCompletionFunc("print-config",
		cobra.FixedCompletions(clientList(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (s *speaking) run(cmd *cobra.Command) error {
	switch {
	case s.printConfig != "":
		return s.printClient(cmd)
	case cmd.Flags().Changed("print-config"):
		return exit.BadUsage(cmd, errors.New("--print-config needs the name of a client"), "the clients are "+clientNames())
	case s.url != "":
		return exit.BadUsage(cmd, errors.New("--url goes with --print-config"), "")
	}
	if err := s.Check(cmd); err != nil {
		return err
	}
	s.ShownOut = s.Out
	inside, err := s.Start(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if terminal.IsTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "lastword: mcp waits for an agent's messages on stdin; Ctrl-C ends it, and --help "+
			"says how an agent is told of it")
	}
	stdout := terminal.Unwrap(cmd.OutOrStdout()).(io.Writer) // the door keeps secrets out by itself, and knows a pipe
	attached, first := host.Interruptible(cmd.Context(), func() {})
	served := inside.Handler.Serve(attached, cmd.InOrStdin(), stdout)
	ended := inside.Close(attached)
	if by := first(); by != nil {
		return &exit.Error{Code: exit.OfSignal(by)}
	}
	if served != nil {
		served = fmt.Errorf("cannot serve: %w", served)
	}
	return errors.Join(served, ended)
}
