package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/backup"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages/words"
)

func restoreCommand(p *host.Program) *cobra.Command {
	var state, files string
	cmd := &cobra.Command{
		Use:     "restore <file>",
		GroupID: settings.Working,
		Short:   "Put a backup back into an empty folder",
		Long: `Restore writes what lastword backup has saved into the folder of --state, which must be empty or not there, and the
files of runs into the folder of --files. It reads the backup to its end first, and writes nothing if that is damaged or
cut. Then it reads every run, as verify --all does.

Run it as the user of the server. When serve opens the folder, runs that wait for an answer go on, and those that were
at work in the backup start again or end with node_lost, as after a crash.` +
			exitCodes(exit.Completed, exit.Failed, exit.Usage, exit.Configuration, exit.Verification, exit.Interrupted),
		Example: `  lastword restore lastword.tar.gz --state /var/lib/lastword --files /var/lib/lastword-files`,
		Args:    exit.Takes(1, "needs the file that lastword backup has written", ""),
		RunE: leavingNothing(func(cmd *cobra.Command, args []string) error {
			dir, err := stateFolder(cmd, p, state, serveState)
			if err == nil {
				err = readBackup(cmd, args[0], dir, files)
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&state, "state", "", "empty `folder` for the server (default: the one of serve)")
	cmd.Flags().StringVar(&files, "files", "", "empty `folder` for the files of runs: --out of serve")
	foldersOnly(cmd)
	return cmd
}

func readBackup(cmd *cobra.Command, name, dir, files string) error {
	b, err := backup.Open(name)
	if err != nil {
		return err
	}
	defer b.Close()
	into := map[string]string{backup.State: dir}
	switch n := b.Count[backup.Files]; {
	case n > 0 && files == "":
		return fmt.Errorf("%s has %s of runs: give --files FOLDER, too", name, words.Count(n, "file"))
	case n > 0:
		into[backup.Files] = files
	case files != "":
		return errors.New(name + " has no files of runs: leave --files out")
	}
	if err := b.Restore(cmd.Context(), into); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "restored what lastword %s saved at %s\n", b.Version, b.Made.Format(time.RFC3339))
	return sound(cmd, dir, dir)
}
