//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Nobody looks at the name first, so it does not matter when it became a pipe.
func TestPipesAreNotWaitedFor(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	fatal.IfError(t, err)
	defer root.Close()
	pipe := filepath.Join(root.Name(), "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o644), root.WriteFile("file", []byte("x"), 0o644)); err != nil {
		t.Skip(err)
	}
	for what, open := range map[string]func(name string) (*os.File, fs.FileInfo, error){
		"by name": func(name string) (*os.File, fs.FileInfo, error) {
			return regular.Open(filepath.Join(root.Name(), name))
		},
		"below a root": func(name string) (*os.File, fs.FileInfo, error) { return regular.OpenIn(root, name) },
	} {
		done := make(chan error, 1)
		go func() { _, _, err := open("pipe"); done <- err }()
		select {
		case err := <-done:
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: a pipe gives %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: a pipe is waited for", what)
		}
		f, info, err := open("file")
		if err != nil || info.Size() != 1 {
			t.Errorf("%s: a file gives %v, %v", what, info, err)
			continue
		}
		f.Close()
	}
}

// A link of a clone to a device or a pipe costs neither memory nor time.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	name := func(base string) string { return filepath.Join(dir, base) }
	err := errors.Join(syscall.Mkfifo(name("pipe"), 0o600), os.Symlink("/dev/zero", name("zero")), os.WriteFile(name("file"), []byte("four"), 0o600),
		os.Symlink("file", name("link")))
	if err != nil {
		t.Skip(err)
	}
	for _, base := range []string{"pipe", "zero", "."} {
		if _, err := regular.Read(name(base), 4); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", base, err)
		}
		if _, err := regular.Root(name(base)); base != "." && err == nil {
			t.Errorf("%s is opened as a folder", base)
		}
	}
	for most, want := range map[int64]error{3: regular.ErrTooLarge, 4: nil} {
		if _, err := regular.Read(name("link"), most); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", most, err)
		}
	}
}
