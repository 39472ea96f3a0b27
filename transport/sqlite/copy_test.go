package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// A copy beside a writer has all that the journal has acknowledged, and goes on as a journal of its own.
func TestCopy(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	j, _ := open(t, dir)
	mustAppend(t, j, block("r_a", 0, queued, started, begun))
	if err := sqlite.Copy(t.Context(), dir, to); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, block("r_a", 3, done, success))
	if info, err := os.Stat(filepath.Join(to, "journal.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the copy: %v, %v", info, err)
	}
	copied, _ := open(t, to)
	if page, err := copied.Read(t.Context(), "r_a", 0); err != nil || page.Head.Seq != 3 {
		t.Errorf("%+v, %v", page.Head, err)
	}
	mustAppend(t, copied, block("r_a", 3, done, success))
	if err := sqlite.Copy(t.Context(), t.TempDir(), t.TempDir()); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("a copy of nothing: %v", err)
	}
}

// A journal of an older schema is copied as it is: a backup comes before an upgrade.
func TestCopyOfAnOlderSchema(t *testing.T) {
	to := t.TempDir()
	if err := sqlite.Copy(t.Context(), old(t, 1), to); err != nil {
		t.Fatal(err)
	}
	var version int
	if reading(t, to, "PRAGMA user_version", &version); version != 1 {
		t.Errorf("the copy is of schema %d", version)
	}
}
