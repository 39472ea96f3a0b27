package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// Repository writes the files of a txtar archive to a new temporary folder and returns its path. The folder is
// removed when the test ends. A file name that leads out of the folder fails the test.
func Repository(t testing.TB, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse(archive).Files {
		if !filepath.IsLocal(f.Name) {
			t.Fatalf("%s leads out of the repository", f.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
