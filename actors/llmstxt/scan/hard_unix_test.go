//go:build unix

package scan_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// A test that waits here for someone to write into the pipe has failed.
func TestPipesAreNotOpened(t *testing.T) {
	root := open(t, "-- a.md --\n# A\n")
	for _, name := range []string{"pipe.md", ".gitignore"} {
		if err := syscall.Mkfifo(filepath.Join(root.Name(), name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	repo := read(t, root, scan.Limits{})
	if got, want := left(repo), "not a regular file: 2 files 0 folders, .gitignore"; got != want || paths(repo) != "a.md" {
		t.Errorf("kept %s, left out:\n%s\nwant:\n%s", paths(repo), got, want)
	}
	if _, _, err := scan.ReadFile(t.Context(), scan.Folder(root), "pipe.md", 10); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a pipe is read: %v", err)
	}
}
