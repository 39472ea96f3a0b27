//go:build unix

package confined_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// hostile is a folder with everything that leads elsewhere, and the folder that it leads to.
func hostile(t *testing.T) (root *os.Root, outside string) {
	t.Helper()
	inside, outside := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(inside, name) }
	err := errors.Join(os.MkdirAll(at(".git"), 0o755), os.WriteFile(at(".git/config"), []byte("git"), 0o644),
		os.MkdirAll(at("docs"), 0o755), os.WriteFile(at("docs/a.md"), []byte("text"), 0o644),
		os.WriteFile(filepath.Join(outside, "key"), []byte("key"), 0o644),
		os.Symlink(".git", at("meta")), os.Symlink(outside, at("out")), os.Symlink("docs", at("other")),
		os.Symlink("a.md", at("docs/link.md")), os.Symlink(".git/config", at("conf")), os.Symlink("new", at("dangling")),
		syscall.Mkfifo(at("pipe"), 0o644))
	if err != nil {
		t.Skip(err)
	}
	root, err = os.OpenRoot(inside)
	fatal.IfError(t, err)
	t.Cleanup(func() { root.Close() })
	return root, outside
}

func text(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// No name leads over a link, to what is hidden or to what is neither a file nor a folder, to read or to write.
func TestOpen(t *testing.T) {
	root, outside := hostile(t)
	for _, name := range []string{"meta/config", "out/key", "other/a.md", "docs/link.md", "conf", "dangling", ".git/config",
		".GIT/config", "git~1/config", "docs/../.git/config", "../x", "/etc/passwd", "", "docs/.env", "pipe",
		"a\u202egpj.md", "a\u200b.md", "a\x1b.md", "a\u0085.md"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE | os.O_APPEND} {
			if f, err := confined.OpenFile(root, name, flag, 0o644); err == nil {
				t.Errorf("%q with %x opens %s", name, flag, f.Name())
			}
		}
		if f, err := confined.FS(root).Open(name); err == nil || f != nil {
			t.Errorf("%q is in the FS", name)
		}
	}
	for _, name := range []string{"meta/x", "out/x", "other/x", "pipe/x", "docs/a.md/x", ".git/x", "x/.git/y"} {
		if err := confined.Write(root, name, 0o644, text("x")); err == nil {
			t.Errorf("%q is written", name)
		}
	}
	if names, err := filepath.Glob(filepath.Join(outside, "*")); err != nil || len(names) != 1 {
		t.Errorf("outside are %q, %v", names, err)
	}
	for name, want := range map[string]string{"docs/b.md": "b", "new/deep/c.md": "c", "conf": "d", "docs/a.md": "a"} {
		if err := confined.Write(root, name, 0o644, text(want)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if got, err := fs.ReadFile(confined.FS(root), name); string(got) != want {
			t.Errorf("%q holds %q, %v", name, got, err)
		}
	}
	if got, err := root.ReadFile(".git/config"); string(got) != "git" {
		t.Errorf("a link that is replaced leads on: %q, %v", got, err)
	}
}

// A folder that the user names is no link, and none between the working directory and it is.
func TestMakeRoot(t *testing.T) {
	root, outside := hostile(t)
	t.Chdir(root.Name())
	for _, name := range []string{"out", "out/x", "meta", "other/x", filepath.Join(root.Name(), "out"), "pipe", "docs/a.md"} {
		if made, err := confined.MakeRoot(name); err == nil {
			t.Errorf("%q opens %s", name, made.Name())
		}
	}
	for _, name := range []string{".", "docs", "new/.hidden", filepath.Join(outside, "a/b"), "..", "/"} {
		made, err := confined.MakeRoot(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		made.Close()
	}
}

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("own"), 0o700), os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o777|fs.ModeSticky),
		os.Symlink("own", at("link")), os.WriteFile(at("file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string]bool{"own": true, "open": false, "link": false, "file": false, "none": false} {
		if err := confined.Private(at(name)); (err == nil) != private {
			t.Errorf("%s: %v", name, err)
		}
	}
}
