package sqlite_test

import (
	"errors"
	"os"
	"testing"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// open opens a journal and a Reader of the same directory, for the test.
func open(t *testing.T, dir string) (*sqlite.Journal, *sqlite.Reader) {
	t.Helper()
	j, err := sqlite.Open(dir)
	must(t, err)
	t.Cleanup(func() {
		if err := j.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	r, err := sqlite.OpenReader(dir)
	must(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return j, r
}

func openNew(t *testing.T) (journal.Journal, journal.Reader) { return open(t, t.TempDir()) }

func TestJournal(t *testing.T) { testkit.TestJournal(t, openNew) }

func TestRuntime(t *testing.T) { testkit.TestRuntime(t, openNew) }
