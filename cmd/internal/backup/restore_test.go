//go:build unix

package backup_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/backup"
	"github.com/seed889630bf/lastword/internal/fatal"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// written is a backup by another hand: its files have mode 0777, and hold size zeros.
func written(t *testing.T, size int64, names ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "b")
	f, err := os.Create(name)
	must(t, err)
	zip := gzip.NewWriter(f)
	w := tar.NewWriter(zip)
	about := `{"format":1}`
	err = w.WriteHeader(&tar.Header{Name: "backup.json", Size: int64(len(about))})
	if err == nil {
		_, err = io.WriteString(w, about)
	}
	for _, name := range names {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o777}
		if !strings.HasSuffix(name, "/") {
			h.Typeflag, h.Size = tar.TypeReg, size
		}
		err = errors.Join(err, w.WriteHeader(h))
		if h.Size > 0 {
			_, copied := io.CopyN(w, zeros{}, h.Size)
			err = errors.Join(err, copied)
		}
	}
	err = errors.Join(err, w.Close(), zip.Close(), f.Close())
	must(t, err)
	return name
}

// What is restored belongs to its owner alone, whatever modes a backup says, and no folder that others may read gets it.
func TestRestoredFilesArePrivate(t *testing.T) {
	b, err := backup.Open(written(t, 1, "state/deep/", "state/deep/key", "files/a"))
	must(t, err)
	defer b.Close()
	dir := t.TempDir()
	open := map[string]string{backup.State: filepath.Join(dir, "s"), backup.Files: filepath.Join(dir, "open")}
	must(t, os.Mkdir(open[backup.Files], 0o755))
	if err := b.Restore(t.Context(), open); err == nil || !strings.Contains(err.Error(), "others may read") {
		t.Error(err)
	}
	must(t, b.Restore(t.Context(), map[string]string{backup.State: filepath.Join(dir, "new/s"), backup.Files: filepath.Join(dir, "new/f")}))
	err = filepath.WalkDir(filepath.Join(dir, "new"), func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, known := d.Info(); known != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", name, info.Mode(), known)
			}
		}
		return err
	})
	must(t, err)
}

// No name of a backup steers a terminal that lists what was restored.
func TestNamesOfBackupsAreReadable(t *testing.T) {
	for _, name := range []string{"files/a\x1b[2Jb", "files/a\u202eb/", "state/a\nb"} {
		if b, err := backup.Open(written(t, 1, name)); err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\n") {
			t.Errorf("%v, %q", b, err)
		}
	}
}

// A small file that unpacks to a large one, or to very many, is refused before anything is written.
func TestBackupsAreBounded(t *testing.T) {
	for _, name := range []string{written(t, 80<<20, "state/a"), written(t, 0, strings.Split(strings.Repeat("state/a ", 20_000)+"state/b", " ")...)} {
		if b, err := backup.Open(name); err == nil || !strings.Contains(err.Error(), "it unpacks to more than") {
			t.Errorf("%v, %v", b, err)
		}
	}
}

var must = fatal.IfError
