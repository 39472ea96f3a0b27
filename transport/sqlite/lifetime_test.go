package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// What was there when the journal was closed is there when it is opened again: logs, lists, and who has to be claimed.
func TestOpenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := closed(t, func(j *sqlite.Journal) {
			talk(t, j, "r_ended", 3, "word ")
			time.Sleep(time.Second)
			mustAppend(t, j, block("r_live", 0, queued, started, begun))
			if _, err := j.Claim(t.Context(), "test"); err != nil {
				t.Fatal(err)
			}
		})
		j, r := open(t, dir)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if c, err := j.Claim(over, "another"); err != nil || c.Run != "r_live" {
			t.Errorf("the run of a process that has gone is lent at once: %+v, %v", c, err)
		}
		if c, err := j.Claim(over, "another"); err == nil {
			t.Errorf("lent %+v", c)
		}
		for name, reader := range map[string]journal.Reader{"the journal": j, "another reader": r} {
			list, err := reader.List(t.Context(), messages.Query{ByQueued: true})
			if err != nil || len(list) != 2 || list[0].RunID != "r_live" || list[1].Status != messages.Completed ||
				list[1].Labels["topic"] != "parks" {
				t.Errorf("%s lists %+v, %v", name, list, err)
			}
		}
		mustAppend(t, j, block("r_live", 3, done, success))
		if err := appended(j, block("r_ended", 8, begun)); !errors.Is(err, journal.ErrSealed) {
			t.Errorf("an append after the end: %v", err)
		}
		sound(t, dir, 2)
	})
}

// "The log of a finished run is compacted by merging": without changing what it adds up to, and the block of its
// terminal is still known.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, _ := open(t, dir)
		talk(t, j, "r_long", 500, "word ")
		last := block("r_short", 2, messages.RunCanceled{By: messages.ByRun, Cause: messages.CauseCanceledByUser,
			Artifacts: []messages.Artifact{}})
		mustAppend(t, j, block("r_short", 0, queued), block("r_short", 1, messages.RunCanceling{By: "ann"}), last)
		mustAppend(t, j, block("r_live", 0, queued, started, begun), block("r_live", 3, said(0, "a")), block("r_live", 4, said(1, "b")))
		synctest.Wait()
		var blocks int
		if reading(t, dir, "SELECT count(*) FROM blocks", &blocks); blocks != 1+3+3 {
			t.Errorf("%d blocks, want one of the long run, and the others' blocks", blocks)
		}
		page, err := j.Read(t.Context(), "r_long", 0)
		if err != nil || len(page.Events) != 6 || page.Head.Seq != 505 || page.Events[3].From != 4 || page.Events[3].Seq != 503 {
			t.Errorf("the merged log: %+v, %v", page, err)
		}
		mustAppend(t, j, last) // again
	})
	sound(t, dir, 3)
}

// A journal that was killed before it had merged merges when it opens.
func TestMergeAtOpen(t *testing.T) {
	dir := closed(t, func(j *sqlite.Journal) { mustAppend(t, j, block("r_a", 0, queued, started, begun)) })
	synctest.Test(t, func(t *testing.T) {
		j, _ := open(t, dir)
		mustAppend(t, j, block("r_a", 3, said(0, "a"), said(1, "b")), block("r_a", 5, done, success))
		synctest.Wait()
	})
	change(t, dir, "UPDATE runs SET merged = 0")
	synctest.Test(t, func(t *testing.T) { open(t, dir); synctest.Wait() })
	var merged bool
	if reading(t, dir, "SELECT merged FROM runs", &merged); !merged {
		t.Error("the log was not merged")
	}
	sound(t, dir, 1)
}

// A long log is read in pages.
func TestPages(t *testing.T) {
	j, _ := open(t, t.TempDir())
	mustAppend(t, j, block("r_a", 0, queued, started, begun))
	const n = 40
	for i := range n {
		mustAppend(t, j, block("r_a", uint64(3+i), said(i, strings.Repeat("x", 100<<10))))
	}
	reads, after := 0, uint64(0)
	for ; after < 3+n; reads++ {
		page, err := j.Read(t.Context(), "r_a", after)
		if err != nil || len(page.Events) == 0 || page.Head.Seq != 3+n || page.Events[0].Seq != after+1 {
			t.Fatalf("past %d: %d events, %+v, %v", after, len(page.Events), page.Head, err)
		}
		after = page.Events[len(page.Events)-1].Seq
	}
	if reads < 3 || reads > 6 {
		t.Errorf("%d reads of 4 MB", reads)
	}
}

// The queue is bounded: a disk that hangs has appends refused, and not the memory fill up.
func TestSlowDisk(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, dir)
	mustAppend(t, j, block("r_a", 0, queued, started, begun))
	release, answers := hold(t, dir), make(chan error, 6000)
	for i := range cap(answers) {
		j.Append(block("r_a", 3, said(i, "word ")), func(err error) { answers <- err })
	}
	for range 1000 {
		if err := <-answers; !errors.Is(err, journal.ErrRefused) || !strings.Contains(err.Error(), "is too slow") {
			t.Fatalf("a block too many: %v", err)
		}
	}
	release()
	landed := 0
	for range cap(answers) - 1000 {
		if <-answers == nil {
			landed++
		}
	}
	if landed != 1 {
		t.Errorf("%d of the same place landed", landed)
	}
}

// A copy beside a writer has all that the journal has acknowledged, and goes on as a separate journal.
func TestCopy(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	j, _ := open(t, dir)
	mustAppend(t, j, block("r_a", 0, queued, started, begun))
	must(t, sqlite.Copy(t.Context(), dir, to))
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
	must(t, sqlite.Copy(t.Context(), old(t, 1), to))
	var version int
	if reading(t, to, "PRAGMA user_version", &version); version != 1 {
		t.Errorf("the copy is of schema %d", version)
	}
}

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
