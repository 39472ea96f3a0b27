package archive_test

import (
	"archive/tar"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/archive"
)

// Whatever the bytes are: an error with a code, or files within the limits whose names stay inside.
func FuzzRead(f *testing.F) {
	bzipped, err := os.ReadFile("testdata/thing.tar.bz2")
	must(f, err)
	entries := append(files("top/a", "top/b/c", "top/../up", "/abs", `top\d`, "top/a"),
		entry{name: "top/link", target: "../../etc"}, entry{name: "top/pipe", kind: tar.TypeFifo})
	plain := tarFrom(f, strings.Repeat("0a", 20), entries...)
	long := tarOf(f, files(strings.Repeat("long/", 30)+"name")...)
	for _, seed := range [][]byte{plain, gz(f, plain), bzipped, zipOf(f, strings.Repeat("0a", 20), entries...), long,
		sparse(600, "hole"), sparse(1<<40, "huge"), zipOf(f, ""), nil} {
		f.Add(seed)
	}
	limits := archive.Limits{WireBytes: 64 << 10, UnpackedBytes: 64 << 10, FileBytes: 1 << 10, Files: 20, Depth: 40,
		PathBytes: 300}
	file := save(f, "fuzzed", nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(file, data, 0o600))
		a, err := archive.Read(t.Context(), file, archive.Options{Limits: limits}, nil)
		if err != nil {
			if code := messages.CodeOf(err); code != "invalid_input" && code != "limit_exceeded" {
				t.Fatalf("the error %v has the code %q", err, code)
			}
			return
		}
		hold(t, a, limits)
	})
}

// hold checks what is promised of every archive.
func hold(t *testing.T, a *archive.Archive, limits archive.Limits) {
	count, size := 0, int64(0)
	must(t, fs.WalkDir(a.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || len(name) > limits.PathBytes {
			t.Errorf("the name %q is kept", name)
		}
		if d.Type() != 0 {
			_, err := fs.ReadLink(a.Files, name)
			return err
		}
		data, err := fs.ReadFile(a.Files, name)
		if err != nil && messages.CodeOf(err) != "limit_exceeded" {
			t.Errorf("%s: %v", name, err)
		}
		size += int64(len(data))
		return nil
	}))
	if count > limits.Files || size > limits.UnpackedBytes {
		t.Errorf("%d files of %d bytes", count, size)
	}
	if strings.ContainsAny(a.Name, "/\\") {
		t.Errorf("got %+v", a)
	}
}
