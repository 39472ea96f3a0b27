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
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, actors.Config{}))
}

// run is the program: its data goes to stdout, everything else to stderr, and its result is the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, config actors.Config) int {
	root := &cobra.Command{
		Use:           "lastword",
		Short:         "Run long agent jobs as supervised actors and stream what happens",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(generateCommand(config), versionCommand())
	return report(stderr, root.ExecuteContext(ctx))
}
