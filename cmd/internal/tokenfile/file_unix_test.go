//go:build unix

package tokenfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/tokenfile"
)

// A server that reads the file by its group reads it after each change too, and others never do.
func TestWhoCanRead(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o640} {
		file := filepath.Join(t.TempDir(), "tokens")
		line := func(name string) string { return name + " run:read " + strings.Repeat(name, 32) }
		must(t, os.WriteFile(file, []byte(line("aa")+"\n"), mode))
		must(t, tokenfile.Append(file, line("bb")))
		added, err := os.Stat(file)
		must(t, err)
		if n, err := tokenfile.Remove(file, "bb"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		removed, err := os.Stat(file)
		if err != nil || added.Mode().Perm() != mode || removed.Mode().Perm() != mode {
			t.Errorf("a file of mode %#o has %#o with a line more and %#o with one less, %v", mode, added.Mode(), removed.Mode(), err)
		}
	}
}
