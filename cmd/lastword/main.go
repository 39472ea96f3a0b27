// Command lastword runs long agent jobs as supervised actors and streams what happens.
//
// # A token's journey
//
// A task says something through its actors.TaskContext. The text waits for a credit and is sent to the run's actor. The
// run's ledger gives it a number and a time, asks messages.State.Apply whether it is legal, and appends it to the
// journal. Readers then see it. A reader, such as this command, pulls it from its cursor on, applies it to a State of
// its own, and prints it. No step calls back to an earlier one, and a slow reader delays nobody.
//
// # Settings
//
// A flag that is not on the command line is set from the environment, from the file of --config, from .lastword.yaml in
// the current folder, or from the user's own file. The first of these that has a value wins.
//
// docs/cli.md lists the commands, their flags and the exit codes.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/checks"
	"github.com/seed889630bf/lastword/cmd/internal/commands"
	"github.com/seed889630bf/lastword/cmd/internal/editor"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
)

func main() { os.Exit(host.ThisProcess(rootCommand).Run(context.Background())) }

func rootCommand(p *host.Program) *cobra.Command {
	version, trusted := false, ""
	root := &cobra.Command{
		Use:           "lastword",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          settings.KnownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return printVersion(cmd)
			}
			return cmd.Help()
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if trusted != "" {
				p.Env = append(slices.Clip(p.Env), settings.Trust+"="+trusted)
			}
			return settings.Configure(cmd, args, p.Env, p.ConfigFile, p.Secrets)
		},
	}
	settings.Group(root.Flags(), commonFlags, func() {
		root.Flags().BoolVar(&version, "version", false,
			"print the version")
	})
	flags := root.PersistentFlags()
	settings.Group(flags, commonFlags, func() {
		flags.StringVar(&p.ConfigFile, "config", "", "YAML `file` of settings, read before the other files")
		flags.StringVar(&trusted, "trust", "", "`folder` of approvals and keys, which no settings file names (default ~/.local/share/lastword/trust)")
		settings.Choice(root, flags, &p.Display.Progress, "progress", "how stderr shows a run", "auto", "tty", "plain",
			"none")
		flags.BoolVar(&p.Display.NoColor, "no-color", false, "print without colour, as NO_COLOR in the environment does")
	})
	settings.FlagOnly(flags, "trust")
	settings.ByOperator(flags, "progress", "no-color")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.BadUsage(cmd, settings.BadValue(err), settings.MeantFlag(cmd, err))
	})
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), terminal.Wrap(terminal.About(cmd), helpColumns)+"\n\n"+usageText(cmd))
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usageText(cmd))
		return err
	})
	addGroup(root, settings.Working, "Commands:", generateCommand(p), checks.Command(p), promptCommand(p), chatCommand(p), commands.RunCommand(p), commands.StepCommand(p), commands.AgentCommand(p),
		commands.StartCommand(p, func(d *terminal.Display, job string) { showRun(d, p, job) }), commands.JobsCommand(p),
		planCommand(p), commands.SchedulesCommand(p), commands.WebhooksCommand(p), commands.FaultCommand(p), conversationsCommand(p),
		runsCommand(p), budgetCommand(p), explainCommand(p), commands.RecordCommand(p, runNamed),
		commands.ReplayCommand(p, func(d *terminal.Display, job string) { showRun(d, p, job) }), mcpCommand(p),
		editor.Command(p),
		serveCommand(p), uiCommand(p), verifyCommand(p), backupCommand(p), restoreCommand(p), modelsCommand(p), providerCommand(p))
	addGroup(root, settings.Helping, "Settings and help:",
		tokenCommand(p), keyCommand(p), doctorCommand(p), bundleCommand(p), configCommand(p), completionCommand(), versionCommand())
	describe(root)
	finish(root)
	return root
}

// addGroup adds the commands of a group, which help shows below its title.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	root.AddCommand(commands...)
}

// finish says of all commands what their texts imply: flags are listed in the order of their definition, shells complete folders
// and files of the named form, and a command that names no argument takes none.
func finish(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	if !strings.Contains(cmd.Use, " ") {
		if cmd.Args == nil {
			cmd.Args = noArguments
		}
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { settings.Must(completed(flags, f)) })
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}

// extensions are the endings of files by the first word of a flag's usage.
var extensions = map[string][]string{"YAML": {"yaml", "yml"}, "JSON": {"json"}, "PEM": {"pem", "crt"}}

// completed makes shells complete a flag whose usage names a `folder` or a `file`.
func completed(flags *pflag.FlagSet, f *pflag.Flag) error {
	kind, usage := pflag.UnquoteUsage(f)
	switch form, _, _ := strings.Cut(usage, " "); {
	case f.Value.Type() != "string":
	case kind == "folder":
		return cobra.MarkFlagDirname(flags, f.Name)
	case kind == "file":
		return cobra.MarkFlagFilename(flags, f.Name, extensions[form]...)
	}
	return nil
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return terminal.PrintJSON(cmd.OutOrStdout(), build.This())
			}
			return printVersion(cmd)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), build.This())
	return err
}
