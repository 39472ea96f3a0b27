// Command lastword runs long agent jobs as supervised actors and streams what happens.
//
// # A token's journey
//
// A task says something through its actors.TaskContext; the word waits for a credit and is mailed to the run's actor.
// The run's live log stamps it with its number, asks messages.State.Apply whether it is legal, appends it to the
// journal and shows it to readers. A reader, such as this command, pulls it by cursor, folds it into a State of its own,
// and prints it. Nothing calls back upward, and a reader that stops reading holds up nobody.
//
// # Exit codes
//
//	0 completed   1 failed   2 usage   3 configuration   4 provider   5 limit or budget
//	124 timeout   130 Ctrl-C   143 SIGTERM
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
)

func main() { os.Exit(program(actors.Config{})) }

// program runs in this process's surroundings. A reader of stdout that has gone away is an error of writing here, not
// the death that a signal would bring: a run is ended in order.
func program(config actors.Config) int {
	signal.Ignore(syscall.SIGPIPE)
	return run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, config)
}

// run is the program: its data goes to stdout, everything else to stderr, and its result is the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, config actors.Config) int {
	root := &cobra.Command{
		Use:   "lastword",
		Short: "Run long agent jobs as supervised actors and stream what happens",
		Long: `lastword runs long agent jobs as supervised actors and streams what happens. Every run has exactly
one last word: completed, failed or canceled.`,
		Example:       "  lastword generate .    write llms.txt files for the repository in this folder",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          noCommand,
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, err, "") })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(generateCommand(config), versionCommand())
	return report(stderr, root.ExecuteContext(ctx))
}

// knownCommand is asked when the first argument names no command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	}
	return usage(root, fmt.Errorf("unknown command %q", args[0]), hint)
}

// noCommand prints the help as an answer to a mistake: on stderr.
func noCommand(root *cobra.Command, _ []string) error {
	root.SetOut(root.ErrOrStderr())
	if err := root.Help(); err != nil {
		return err
	}
	return &exitError{code: exitUsage}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Say what a command does",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return knownCommand(cmd.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd, fmt.Errorf("%s takes no arguments", cmd.Name()), "")
	}
	return nil
}
