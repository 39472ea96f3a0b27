package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/sqlite"
)

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
