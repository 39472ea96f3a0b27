package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
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
			_, err := j.Claim(t.Context(), "test")
			must(t, err)
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

// "Damage that a start meets makes /readyz say so; a start then fails at once"
func TestDamageInReadiness(t *testing.T) {
	dir := closed(t, func(*sqlite.Journal) {})
	var root int64
	reading(t, dir, "SELECT rootpage FROM sqlite_master WHERE name = 'runs_by_queueing'", &root)
	overwrite(t, dir, (root-1)*4096, 200)
	j, _ := open(t, dir)
	s := faultplan.Open(t, actors.Config{Journal: j})
	if err := s.Ready(); err != nil {
		t.Errorf("before a start: %v", err)
	}
	job := actors.Job{Name: "test", Tasks: []actors.Task{{Name: "work", Run: func(context.Context, *actors.TaskContext) error { return nil }}}}
	for range 2 {
		began := time.Now()
		_, err := s.Start(t.Context(), job, actors.Options{})
		if messages.CodeOf(err) != messages.CauseJournalUnavailable || !strings.Contains(err.Error(), "is damaged: restore a backup") {
			t.Errorf("the start ended with %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the start took %s", took)
		}
		if err := s.Ready(); err == nil || !strings.Contains(err.Error(), "is damaged: restore a backup") {
			t.Errorf("after it the node is ready: %v", err)
		}
	}
}

// What the database can never hold is refused permanently, alone, and the log goes on.
func TestUnstorable(t *testing.T) {
	dir := closed(t, func(j *sqlite.Journal) { mustAppend(t, j, block("r_a", 0, queued, started, begun)) })
	change(t, dir, "INSERT INTO blocks SELECT 99, first, last, id, opening, epoch, writer, terminal, body, before, digest FROM blocks",
		"INSERT INTO runs SELECT 99, 'r_b', principal, job, labels, status, canceling, cause, 2, epoch, ended, merged, bytes, queued_at, updated_at, input, requests, purse FROM runs")
	j, _ := open(t, dir)
	for name, b := range map[string]journal.Block{
		"no JSON":                      block("r_a", 3, messages.Unknown{Type: "moon.rose", Payload: json.RawMessage("{")}),
		"no events":                    {Run: "r_a", After: journal.Head{Seq: 3}},
		"a list that is not its log's": block("r_b", 2, begun),
	} {
		if err := appended(j, b); !errors.Is(err, journal.ErrUnstorable) || messages.CodeOf(err) == messages.CauseJournalUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	mustAppend(t, j, block("r_a", 3, done, success))
}

// "retention keeps up at saturation, and the file shrinks"
func TestExpireKeepsUp(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, dir)
	const logs = 400
	long, answers := strings.Repeat("word ", 4000), make(chan error, logs)
	for i := range logs {
		j.Append(block(messages.RunID(fmt.Sprintf("r_%d", i)), 0, queued, started, begun, said(0, long), done, success), func(err error) { answers <- err })
	}
	for range logs {
		must(t, <-answers)
	}
	var free, left int
	ctx, cancel := context.WithCancel(t.Context())
	blocks := make(chan int)
	for i := range 32 {
		go func() {
			run, at, n := messages.RunID(fmt.Sprintf("r_live%d", i)), uint64(0), 0
			for ; ctx.Err() == nil; n++ {
				b := block(run, at, said(n-1, "word "))
				if at == 0 {
					b = block(run, at, queued, started, begun)
				}
				if err := appended(j, b); err != nil {
					t.Error(err)
					break
				}
				at = b.Head().Seq
			}
			blocks <- n
		}()
	}
	_, err := j.Expire(t.Context(), time.Now(), 0)
	cancel()
	n := 0
	for range 32 {
		n += <-blocks
	}
	reading(t, dir, "SELECT count(*) FROM runs WHERE ended = 1", &left)
	reading(t, dir, "PRAGMA freelist_count", &free)
	t.Logf("%d logs were removed beside %d appends; %d pages are free", logs, n, free)
	if err != nil || left != 0 || n > 20*logs {
		t.Errorf("%d logs are left after %d appends (%v)", left, n, err)
	}
	if free > 1024 { // each log had five
		t.Errorf("%d pages are free", free)
	}
}

// A database of strangers computes nothing and fills no memory: each door refuses it before it reads data.
func TestStrangersDatabase(t *testing.T) {
	for says, statement := range map[string]string{
		`the view "all_runs"`:          "CREATE VIEW all_runs AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
		`the table "runs"`:             "DROP TABLE runs; CREATE TABLE runs (id INTEGER PRIMARY KEY, run TEXT GENERATED ALWAYS AS (hex(zeroblob(900000000))))",
		`the view "runs"`:              "DROP TABLE runs; CREATE VIEW runs AS SELECT 1 AS id",
		`the trigger "slow"`:           "CREATE TRIGGER slow BEFORE UPDATE ON store BEGIN SELECT hex(zeroblob(900000000)); END",
		`the trigger "blocks_follow"`:  "DROP TRIGGER blocks_follow; CREATE TRIGGER blocks_follow BEFORE INSERT ON blocks BEGIN SELECT 1; END",
		`the index "runs_ended"`:       "DROP INDEX runs_ended; CREATE INDEX runs_ended ON runs (hex(zeroblob(900000000)))",
		`the table "store"`:            "DROP TABLE store; CREATE TABLE store (salt BLOB CHECK (hex(zeroblob(900000000)) > x''))",
		`the table "other"`:            "CREATE VIRTUAL TABLE other USING fts5(x)",
		"a value of more than 64 MiB":  "UPDATE store SET salt = zeroblob(70000000)",
		"64 MiB in its table blocks; ": "INSERT INTO blocks VALUES (1, 1, 1, x'', (SELECT opening FROM store), 1, '', 0, zeroblob(70000000), x'', x'')",
	} {
		dir := t.TempDir()
		j, err := sqlite.Open(dir)
		must(t, err)
		must(t, j.Close())
		db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
		if err == nil {
			_, err = db.Exec(statement)
		}
		must(t, err)
		must(t, db.Close())
		_, reading := sqlite.OpenReader(dir)
		_, checking := sqlite.Check(t.Context(), dir)
		_, writing := sqlite.Open(dir)
		copying := sqlite.Copy(t.Context(), dir, t.TempDir())
		for door, err := range map[string]error{"reading": reading, "checking": checking, "writing": writing, "copying": copying} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s with %s: %v", door, says, err)
			}
		}
	}
}

// A link of a stranger's in the place of a file leads to a file of the user, which no door writes over.
func TestStrangersLinks(t *testing.T) {
	for _, name := range []string{"lock", "journal.db", "journal.db-wal"} {
		dir, mine := t.TempDir(), filepath.Join(t.TempDir(), "mine")
		if err := errors.Join(os.WriteFile(mine, []byte("mine"), 0o600), os.Symlink(mine, filepath.Join(dir, name))); err != nil {
			t.Skip(err)
		}
		_, writing := sqlite.Open(dir)
		if text, err := os.ReadFile(mine); writing == nil || string(text) != "mine" || err != nil {
			t.Errorf("%s: %v; the file has %q, %v", name, writing, text, err)
		}
	}
}
