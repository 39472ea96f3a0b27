package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages/words"
)

func stateCommand(p *host.Program) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:     "state",
		GroupID: settings.Working,
		Short:   "Check the folder where serve keeps runs",
		Long: `State looks after the folder where lastword serve keeps the events of runs. The folder is the one of
--state, or the one that serve uses.`,
		Example: "  lastword state check --state /var/lib/lastword",
		Args:    knownCommand,
		RunE:    showHelp,
	}
	cmd.PersistentFlags().StringVar(&dir, "state", "", "`folder` of a server (default: the one of serve)")
	settings.Must(cmd.MarkPersistentFlagDirname("state"))
	cmd.AddCommand(&cobra.Command{
		Use:   "check",
		Short: "Read every run in the folder, and tell what is wrong",
		Long: `Check reads the database and the log of every run: whether numbers are missing, whether each event may
follow the one before it, and whether a run ends once. It prints a line for each fault. Check writes nothing, so that
it may run while a server has the folder open.` + exitCodes(exit.Completed, exit.Failed, exit.Usage, exit.Configuration),
		Example: "  lastword state check",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := stateFolder(cmd, p, dir, serveState)
			if err != nil {
				return &exit.Error{Code: exit.Configuration, Err: err}
			}
			return checkState(cmd, dir)
		},
	})
	return cmd
}

// stateFolder is the folder that the flag names, or the one of the settings, or the usual one.
func stateFolder(cmd *cobra.Command, p *host.Program, flag string, of func(*settings.Settings) string) (string, error) {
	if flag == "" {
		s, err := settings.Load(cmd.Root(), p.Env, p.ConfigFile, nil, p.Secrets)
		if err != nil {
			return "", err
		}
		flag = cmp.Or(of(s), p.Env.StateFolder())
	}
	if flag == "" {
		return "", errors.New("there is no home folder; give --state FOLDER")
	}
	return settings.Absolute(flag), nil
}

// serveState is the folder that the settings name for serve, or "".
func serveState(s *settings.Settings) string {
	k, _ := settings.Find(s.Keys, "serve.state")
	return k.Flag.Value.String()
}

func checkState(cmd *cobra.Command, dir string) error {
	report, err := store.Check(cmd.Context(), dir)
	if err != nil {
		return &exit.Error{Code: exit.Configuration, Err: err}
	}
	out := cmd.OutOrStdout()
	for _, f := range report.Faults {
		where := cmp.Or(string(f.Run), "the database")
		if _, err := fmt.Fprintf(out, "%s: %s\n", where, terminal.Flat(f.Says)); err != nil {
			return err
		}
	}
	if n := len(report.Faults); n > 0 {
		return &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%s in %s; restore a backup, or go on without these runs",
			words.Count(n, "fault"), dir)}
	}
	_, err = fmt.Fprintf(out, "%s is sound: %s, %s\n", dir, words.Count(report.Runs, "run"),
		words.Count(report.Events, "event"))
	return err
}
