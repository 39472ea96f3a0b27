package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/backup"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

func backupCommand(p *host.Program) *cobra.Command {
	return foldersCommand(p, "backup <file>", "needs the name of the file to write",
		func(cmd *cobra.Command, name, dir, files string) error { return writeBackup(cmd, p, name, dir, files) },
		"`folder` of the server (default: the one of serve)", "`folder` with the files that runs wrote: --out of serve")
}

func restoreCommand(p *host.Program) *cobra.Command {
	return foldersCommand(p, "restore <file>", "needs the file that lastword backup has written", readBackup,
		"empty `folder` for the server (default: the one of serve)", "empty `folder` for the files of runs: --out of serve")
}

// foldersCommand returns a command that calls do with the file, the folder of --state and the folder of --files. A signal ends it
// in order: it removes what it has begun to write.
func foldersCommand(p *host.Program, use, needs string, do func(cmd *cobra.Command, name, dir, files string) error,
	aboutState, aboutFiles string) *cobra.Command {
	var state, files string
	cmd := &cobra.Command{Use: use, Args: exit.Takes(1, needs, "")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), host.Ending()...)
		defer stop()
		cmd.SetContext(ctx)
		dir, err := stateFolder(cmd, p, state, serveState)
		if err == nil {
			err = do(cmd, args[0], dir, files)
		}
		if err != nil && ctx.Err() != nil {
			return &exit.Error{Code: exit.Interrupted, Err: context.Cause(ctx)}
		}
		return misplaced(err)
	}
	cmd.Flags().StringVar(&state, "state", "", aboutState)
	cmd.Flags().StringVar(&files, "files", "", aboutFiles)
	settings.FlagOnly(cmd.Flags(), "state", "files")
	return cmd
}

// misplaced gives an error that has no exit code yet the one of wrong settings.
func misplaced(err error) error {
	if _, ok := errors.AsType[*exit.Error](err); ok {
		return err
	}
	return exit.Misconfigured(err)
}

// writeBackup copies and checks the journal in a folder beside the file, which has its name once it is whole.
func writeBackup(cmd *cobra.Command, p *host.Program, name, dir, files string) error {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already; choose another name", name)
	}
	if trustFolder, err := trust.Find(p.Env); err == nil {
		if err := trustFolder.Apart(p.Env, dir, files); err != nil {
			return err
		}
	}
	beside, err := os.MkdirTemp(filepath.Dir(name), ".lastword-backup-")
	if err != nil {
		return fmt.Errorf("cannot write beside %s: %w", name, exit.Reason(err))
	}
	defer os.RemoveAll(beside)
	if err := store.Copy(cmd.Context(), dir, beside); err != nil {
		return notCopied(cmd.Context(), dir, err)
	}
	if err := store.CopyKeys(dir, beside); err != nil {
		return err
	}
	made := filepath.Join(beside, "backup")
	f, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := backup.NewWriter(f, backup.About{Version: build.This().Full(), Made: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	public := func(name string) bool { return store.Owns(name) || name == store.KeysFile }
	err = errors.Join(b.Add(cmd.Context(), backup.State, beside, func(name string) bool { return !public(name) }),
		b.Add(cmd.Context(), backup.State, dir, func(name string) bool { return store.Owns(name) || store.Trusts(name) }))
	if err == nil && files != "" {
		err = b.Add(cmd.Context(), backup.Files, files, func(string) bool { return false })
	}
	if err := errors.Join(err, b.Close(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(made, name); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s has %s, %s of runs, and the public halves of the server's keys; only you may read it\n", name,
		words.Size(b.Bytes), words.Count(b.Count[backup.Files], "file"))
	return sound(cmd, beside, dir)
}

// notCopied says why a journal could not be copied.
func notCopied(ctx context.Context, dir string, err error) error {
	if messages.CodeOf(err) == messages.CodeNotFound {
		return fmt.Errorf("%w\nruns that servers share with --nats are in JetStream: nats stream backup copies them", err)
	}
	if found, unread := store.CheckDatabase(ctx, dir); unread == nil && len(found.Faults) > 0 {
		return fmt.Errorf("the database in %s is damaged and cannot be copied: restore an earlier backup; lastword verify --all lists the damaged runs", dir)
	}
	return err
}

// sound checks every run of a copy in the folder path; named is the folder that people know. A copy of another version of
// lastword cannot be checked.
func sound(cmd *cobra.Command, path, named string) error {
	found, err := store.Check(cmd.Context(), path)
	switch {
	case err != nil:
		fmt.Fprintf(cmd.ErrOrStderr(), "the runs were not checked: %s\n", strings.ReplaceAll(err.Error(), path, named))
		return nil
	case len(found.Faults) > 0:
		return &exit.Error{Code: exit.Verification, Err: fmt.Errorf("%s in %s; lastword verify --all names each",
			words.Count(len(found.Faults), "fault"), named)}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is sound: %s, %s\n", named, words.Count(found.Runs, "run"), words.Count(found.Events, "event"))
	return nil
}

// readBackup restores a backup, and checks the runs in it. It needs files if and only if the backup has files of runs.
func readBackup(cmd *cobra.Command, name, dir, files string) error {
	b, err := backup.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s; name one that lastword backup has written", name)
	}
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
	if err := store.Distrust(dir); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "restored what lastword %s saved at %s\n", b.Version, b.Made.Format(time.RFC3339))
	return sound(cmd, dir, dir)
}
