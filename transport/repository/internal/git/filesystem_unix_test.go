//go:build unix

package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// A repository may have come in an archive: opening a pipe would take until somebody writes into it.
func TestPipesInARepositoryAreNotOpened(t *testing.T) {
	for _, name := range []string{"HEAD", "config", "packed-refs", "refs/heads/master", "objects/info/alternates"} {
		dir, _, _ := repository(t, "https://example.com/o/r")
		pipe := filepath.Join(dir, ".git", filepath.FromSlash(name))
		must(t, errors.Join(os.RemoveAll(pipe), os.MkdirAll(filepath.Dir(pipe), 0o755), syscall.Mkfifo(pipe, 0o644)))
		soon(t, name, func() { _, _ = git.Read(filepath.Join(dir, "sub")) })
		remote, o := local(dir)
		soon(t, name, func() { _, _, _ = get(t.Context(), remote, o) })
	}
}

func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Errorf("a pipe for %s is waited for", what)
	}
}

func TestLargeFilesOfARepositoryAreNotReadWhole(t *testing.T) {
	for name, known := range map[string]bool{"HEAD": true, "config": false} {
		dir, _, _ := repository(t, "https://example.com/o/r")
		if err := os.Truncate(filepath.Join(dir, ".git", name), 1<<40); err != nil {
			t.Skipf("this file system has no such files: %v", err)
		}
		if o, err := git.Read(dir); o != (git.Origin{}) || (err == nil) != known {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func TestHeadWithoutAHash(t *testing.T) {
	dir, _, _ := repository(t, "https://example.com/o/r")
	write(t, filepath.Join(dir, ".git", "HEAD"), "\x1b[31mno hash\n")
	o, err := git.Read(dir)
	if err != nil || strings.Trim(o.Commit, "0") != o.Commit {
		t.Errorf("%+v, %v", o, err)
	}
	remote, at := local(dir)
	if _, err := git.Resolve(patience(t), remote, at); err != nil && messages.CodeOf(err) != messages.CauseInvalidInput {
		t.Error(err)
	}
}
