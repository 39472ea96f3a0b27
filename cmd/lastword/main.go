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
	"os"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

func main() { os.Exit(host.ThisProcess(rootCommand).Run(context.Background())) }

func rootCommand(p *host.Program) *cobra.Command {
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
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			return settings.Configure(cmd, args, p.Env, p.ConfigFile, p.Secrets)
		},
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&p.ConfigFile, "config", "", "`file` of settings in YAML; it goes before the other files")
	settings.Choice(root, flags, &p.Display.Progress, "progress", "how a run that goes on is shown on stderr",
		"auto", "tty", "plain", "none")
	flags.BoolVar(&p.Display.NoColor, "no-color", false, "use no colour; so does NO_COLOR in the environment")
	settings.Must(root.MarkPersistentFlagFilename("config", "yaml", "yml"))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit.BadUsage(cmd, settings.BadValue(err), "") })
	root.SetHelpCommand(helpCommand())
	root.SetUsageTemplate(wrapped(root.UsageTemplate()))
	root.AddGroup(&cobra.Group{ID: settings.Working, Title: "Work:"}, &cobra.Group{ID: settings.Helping, Title: "About the program:"})
	root.AddCommand(generateCommand(p), checkCommand(), promptCommand(p), mcpCommand(p), serveCommand(p), modelsCommand(p),
		providerCommand(p), tokenCommand(), doctorCommand(p), configCommand(p), completionCommand(), manCommand(),
		versionCommand())
	return root
}
