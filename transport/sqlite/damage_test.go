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
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

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
