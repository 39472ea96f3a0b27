package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// childReads is what this test binary does as nobody, instead of testing, when the variable names a directory.
const childReads = "LASTWORD_SQLITE_READS"

func init() {
	if dir := os.Getenv(childReads); dir != "" {
		if err := readAsNobody(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// readAsNobody reads every run of the directory, and prints its head.
func readAsNobody(dir string) error {
	const nobody = 65534
	if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err == nil {
		return errors.New("nobody can write")
	}
	if _, err := sqlite.Open(dir); !strings.Contains(fmt.Sprint(err), "cannot be written: let this user write") {
		return fmt.Errorf("Open: %w", err)
	}
	r, err := sqlite.OpenReader(dir)
	if err != nil {
		return err
	}
	list, err := r.List(context.Background(), messages.Query{})
	for _, run := range list {
		page, err := r.Read(context.Background(), run.RunID, 0)
		if err != nil {
			return err
		}
		fmt.Println(run.RunID, page.Head.Seq)
	}
	return err
}

// A state directory can be read without being able to write it: beside a live server, after its end, after its crash.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	for name, leave := range map[string]func(t *testing.T, dir string){
		"live": func(t *testing.T, dir string) {
			j, _ := open(t, dir)
			mustAppend(t, j, block("r_1", 0, queued, started))
		},
		"stopped": func(t *testing.T, dir string) {
			j, err := sqlite.Open(dir)
			must(t, err)
			mustAppend(t, j, block("r_1", 0, queued, started))
			must(t, j.Close())
		},
		"killed": func(t *testing.T, dir string) { killed(t, dir, 10, func(messages.RunID, uint64) {}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			leave(t, dir)
			readable(t, dir)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), childReads+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "r_") {
				t.Errorf("somebody who cannot write: %s, %v", out, err)
			}
		})
	}
}

// readable lets everybody read what is in the directory, and nobody write it.
func readable(t *testing.T, dir string) {
	t.Helper()
	err := os.Chmod(filepath.Dir(dir), 0o755)
	for name, mode := range map[string]fs.FileMode{"": 0o755, "journal.db": 0o644, "journal.db-wal": 0o644, "journal.db-shm": 0o644} {
		if e := os.Chmod(filepath.Join(dir, name), mode); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	must(t, err)
}
