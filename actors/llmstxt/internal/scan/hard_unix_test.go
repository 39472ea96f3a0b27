//go:build unix

package scan_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/confined"
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
	if _, _, err := scan.ReadFile(t.Context(), confined.TreeOf(root), "pipe.md", 10); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a pipe is read: %v", err)
	}
}

// Nothing looks at these names before they are opened: files and folders may become pipes at any time.
func TestNamesThatBecamePipesAreNotWaitedFor(t *testing.T) {
	root := open(t, "")
	if err := syscall.Mkfifo(filepath.Join(root.Name(), "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	files := confined.TreeOf(root)
	reader := scan.NewReader(files)
	defer reader.Close()
	for what, do := range map[string]func() error{
		"opened":      func() error { _, _, err := confined.Regular(files, "pipe"); return err },
		"read":        func() error { _, err := fs.ReadFile(files, "pipe"); return err },
		"listed":      func() error { _, err := fs.ReadDir(files, "pipe"); return err },
		"as a folder": func() error { _, _, err := reader.Read(t.Context(), "pipe/x", 1); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- do() }()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: no error", what)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: a pipe is waited for", what)
		}
	}
}
