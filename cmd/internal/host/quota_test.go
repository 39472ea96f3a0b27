package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// A caller's files have a limit: those that are there and those that runs write, and no other caller's.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := t.TempDir()
		old := filepath.Join(out, "mia", "local", "old.txt")
		must(t, os.MkdirAll(filepath.Dir(old), 0o755))
		must(t, os.WriteFile(old, make([]byte, 600), 0o600))
		q := quota{out: out, limit: 1000}
		mia, bob := func(n int64) error { return q.take("mia", n) }, func(n int64) error { return q.take("bob", n) }
		for range 2 {
			if err := mia(200); err != nil {
				t.Error(err)
			}
		}
		err := mia(1)
		if messages.CodeOf(err) != messages.CauseLimitExceeded ||
			!strings.Contains(err.Error(), "--max-out-each") {
			t.Error(err)
		}
		if err := bob(1000); err != nil {
			t.Error(err)
		}
		must(t, os.Remove(old))
		time.Sleep(remeasure + time.Second)
		if err := mia(1000); err != nil {
			t.Errorf("files were removed: %v", err)
		}
		if (&quota{}).take("mia", 1<<60) != nil {
			t.Error("there is no limit")
		}
	})
}
