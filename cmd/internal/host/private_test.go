//go:build unix

package host

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/internal/confined"
)

// What a caller's runs write is the caller's: others on the machine cannot read it, also below a folder of an older server.
// Without tokens it is as everybody's files are.
func TestFilesOfCallersArePrivate(t *testing.T) {
	files := &outputs{quota: quota{out: filepath.Join(t.TempDir(), "deep", "out")}}
	must(t, os.MkdirAll(filepath.Join(files.out, "old"), 0o755))
	for principal, private := range map[string]bool{"mia": true, "old": true, "": false} {
		dir, err := files.place(principal, "a/b/c")
		must(t, err)
		root, err := confined.MakeRoot(dir)
		must(t, err)
		defer root.Close()
		must(t, confined.Write(root, "d/x.txt", 0o644, func(w io.Writer) error { return nil }))
		for _, name := range []string{"..", ".", "d", "d/x.txt"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || private != (info.Mode().Perm()&0o077 == 0) {
				t.Errorf("%s of %q: %v, %v", name, principal, info, err)
			}
		}
	}
}
