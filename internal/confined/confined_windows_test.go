package confined_test

import (
	"os"
	"testing"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// No backslash, drive or device leads into a hidden folder or out of the folder.
func TestNameOfWindows(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	fatal.IfError(t, err)
	defer root.Close()
	for _, name := range []string{`docs\.git\config`, `docs\..\.git`, `C:x`, "a:stream", "NUL", "docs/CON"} {
		if _, err := confined.Make(root, name); err == nil {
			t.Errorf("%q is made", name)
		}
		if f, err := confined.OpenFile(root, name, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
			t.Errorf("%q opens %s", name, f.Name())
		}
	}
}
