// Command lastword runs long agent jobs as supervised actors and streams what happens.
//
// # A token's journey
//
// A task says something through its actors.TaskContext; the word waits for a credit and is mailed to the run's actor.
// The run's live log stamps it with its number, asks messages.State.Apply whether it is legal, appends it to the
// journal and shows it to readers. A reader, such as this command, pulls it by cursor, folds it into a State of its
// own, and prints it. Nothing calls back upward, and a reader that stops reading holds up nobody.
//
// # Settings
//
// A flag that the command line does not give is taken from the environment, from the file of --config, from the file
// .lastword.yaml of the current folder, or from the user's own file, whichever is first to say; see settings.
//
// # Exit codes
//
//	0 completed   1 failed   2 usage   3 configuration   4 provider   5 limit or budget   10 stale
//	124 timeout   130 Ctrl-C   143 SIGTERM
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

func main() { os.Exit(program(actors.Config{})) }

// program runs in this process's surroundings. A reader of stdout that has gone away is an error of writing here, not
// the death that a signal would bring: a run is ended in order.
func program(config actors.Config) int {
	signal.Ignore(syscall.SIGPIPE)
	return run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, config)
}

// run is the program: its data goes to stdout, everything else to stderr, and its result is the exit code. No secret of
// the process goes to either.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, config actors.Config) int {
	root := rootCommand(config)
	known := settings.EnvironmentSecrets()
	out, told := known.Writer(stdout), known.Writer(stderr)
	defer told.Close() // what cannot be told is lost
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(told)
	err := root.ExecuteContext(settings.WithSecrets(ctx, known))
	return exit.Report(told, errors.Join(err, out.Close()))
}

func rootCommand(config actors.Config) *cobra.Command {
	var how terminal.Options
	var named string
	root := &cobra.Command{
		Use:   "lastword",
		Short: "Run long agent jobs as supervised actors and stream what happens",
		Long: `lastword runs long agent jobs as supervised actors and streams what happens. Every run has exactly
one last word: completed, failed or canceled.`,
		Example:           "  lastword generate .    write llms.txt files for the repository in this folder",
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              knownCommand,
		RunE:              noCommand,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { return settings.Configure(cmd, args, named) },
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&named, "config", "", "`file` of settings in YAML; it goes before the other files")
	settings.Choice(root, flags, &how.Progress, "progress", "how a run that goes on is shown on stderr",
		"auto", "tty", "plain", "none")
	flags.BoolVar(&how.NoColor, "no-color", false, "use no colour; so does NO_COLOR in the environment")
	settings.Must(root.MarkPersistentFlagFilename("config", "yaml", "yml"))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit.BadUsage(cmd, settings.BadValue(err), "") })
	root.SetHelpCommand(helpCommand())
	root.SetUsageTemplate(wrapped(root.UsageTemplate()))
	root.AddGroup(&cobra.Group{ID: settings.Working, Title: "Work:"}, &cobra.Group{ID: settings.Helping, Title: "About the program:"})
	root.AddCommand(generateCommand(config, &how), checkCommand(), promptCommand(config, &how), mcpCommand(config),
		serveCommand(config), modelsCommand(), providerCommand(&how), tokenCommand(), doctorCommand(&how, &named),
		configCommand(&named), completionCommand(), manCommand(), versionCommand())
	return root
}
