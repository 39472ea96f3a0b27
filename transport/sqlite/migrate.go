package sqlite

import (
	"cmp"
	"database/sql"

	lib "modernc.org/sqlite/lib"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// seal adds chains and digests to the blocks of older schemas, and fills new columns of runs. From sealed on, an ended run
// keeps an empty purse: only its log says what it has spent. It skips a log that cannot be read; [Check] reports it.
func (w *writer) seal(old int) error {
	var numbers []int64
	err := each(ctx, w.conn, "SELECT id FROM runs WHERE ended <= ?", func(rows *sql.Rows) error {
		numbers = append(numbers, 0)
		return rows.Scan(&numbers[len(numbers)-1])
	}, old < sealed)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		err := w.sealLog(number)
		if primary, _ := codeOf(err); err != nil && primary != lib.SQLITE_CORRUPT {
			return err
		}
	}
	return nil
}

// sealLog is seal for one log.
func (w *writer) sealLog(number int64) error {
	var all []journal.StoredBlock
	var s messages.Summary
	var chain journal.Hash
	for b, err := range blocksOf(ctx, w.conn, number) {
		if primary, _ := codeOf(err); primary != 0 {
			return err
		}
		events, bad := b.Events()
		if err != nil || bad != nil {
			return nil // Check reports the log
		}
		chain = b.Seal(chain, events)
		for _, e := range events {
			s.Add(e)
		}
		b.Lines = nil
		all = append(all, b)
	}
	for _, b := range all {
		if _, err := w.exec("UPDATE blocks SET before = ?, digest = ? WHERE run = ? AND first = ?", b.Before[:], b.Digest[:], number,
			int64(b.First)); err != nil {
			return err
		}
	}
	requests, err := pack(s.OpenRequests, len(s.OpenRequests))
	spent, failed := packPurse(&s)
	if err = cmp.Or(err, failed); err == nil {
		_, err = w.exec("UPDATE runs SET input = ?, requests = ?, purse = ? WHERE id = ?", s.Input, requests, spent, number)
	}
	return err
}

// rewrite rewrites the file of an older schema once, so that it can shrink from then on. This needs disk space for two
// copies. If there is not enough, the file keeps its size, and the next Open tries again.
func (w *writer) rewrite() {
	const incremental = 2
	var mode int
	if w.row("PRAGMA auto_vacuum").Scan(&mode) == nil && mode != incremental {
		_, _ = w.conn.ExecContext(ctx, "VACUUM")
	}
}

// migrations brings a database from each version of the schema to the next. PRAGMA user_version is the number of those
// applied.
var migrations = []string{`
CREATE TABLE store (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	opening INTEGER NOT NULL, -- how often the directory was opened for writing
	salt    BLOB NOT NULL
);
INSERT INTO store VALUES (1, 0, randomblob(32));

-- A run's head and its summary. Times are nanoseconds since 1970.
CREATE TABLE runs (
	id         INTEGER PRIMARY KEY,
	run        TEXT NOT NULL UNIQUE,
	principal  TEXT NOT NULL,
	job        TEXT NOT NULL,
	labels     TEXT NOT NULL, -- JSON, or ''
	status     TEXT NOT NULL,
	canceling  INTEGER NOT NULL,
	cause      TEXT NOT NULL,
	seq        INTEGER NOT NULL,
	epoch      INTEGER NOT NULL,
	ended      INTEGER NOT NULL,
	merged     INTEGER NOT NULL DEFAULT 0,
	bytes      INTEGER NOT NULL,
	queued_at  INTEGER NOT NULL,
	updated_at INTEGER NOT NULL
);
CREATE INDEX runs_by_queueing ON runs (principal, queued_at DESC, run);
-- No index has what changes with each block of a live run: that would double what a block writes.
CREATE INDEX runs_live ON runs (principal) WHERE ended = 0;
CREATE INDEX runs_ended_by_update ON runs (principal, updated_at DESC, run) WHERE ended = 1;
CREATE INDEX runs_ended ON runs (updated_at, id, bytes) WHERE ended = 1;
CREATE INDEX runs_to_merge ON runs (id) WHERE ended = 1 AND merged = 0;

-- The body holds the events, each as the length of its JSON and the JSON.
CREATE TABLE blocks (
	run      INTEGER NOT NULL,
	first    INTEGER NOT NULL,
	last     INTEGER NOT NULL CHECK (last >= first),
	id       BLOB NOT NULL, -- empty for what merging has made of several blocks
	opening  INTEGER NOT NULL,
	epoch    INTEGER NOT NULL,
	writer   TEXT NOT NULL,
	terminal INTEGER NOT NULL,
	body     BLOB NOT NULL,
	PRIMARY KEY (run, first)
) WITHOUT ROWID;
CREATE UNIQUE INDEX blocks_one_terminal ON blocks (run) WHERE terminal = 1;
CREATE TRIGGER blocks_follow BEFORE INSERT ON blocks BEGIN
	SELECT CASE
		WHEN NEW.opening < (SELECT opening FROM store) THEN RAISE(ABORT, '` + openedElsewhere + `')
		WHEN EXISTS (SELECT 1 FROM blocks WHERE run = NEW.run AND terminal = 1) THEN RAISE(ABORT, 'the log has ended')
		WHEN NEW.first <> 1 + coalesce((SELECT last FROM blocks WHERE run = NEW.run ORDER BY first DESC LIMIT 1), 0)
			THEN RAISE(ABORT, 'the block does not follow the last one')
	END;
END;
`, `
ALTER TABLE runs ADD COLUMN input TEXT NOT NULL DEFAULT ''; -- '' for the runs before it
`, `
ALTER TABLE runs ADD COLUMN requests TEXT NOT NULL DEFAULT ''; -- the open ones as JSON, or ''
`, `
-- Those of journal.StoredBlock. No run's row has the chain: it follows from the last block.
ALTER TABLE blocks ADD COLUMN before BLOB NOT NULL DEFAULT x'';
ALTER TABLE blocks ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
`, `
-- What somebody has removed: journal.Removed as JSON, and its SHA-256.
CREATE TABLE removed (line TEXT NOT NULL, digest BLOB NOT NULL);
`, `
-- The ledger of ends: each row is a journal.SignedEntry. run is set for an entry about an end.
CREATE TABLE ledger (entry INTEGER PRIMARY KEY, run TEXT, line TEXT NOT NULL, key BLOB NOT NULL, signature BLOB NOT NULL);
CREATE INDEX ledger_by_run ON ledger (run) WHERE run IS NOT NULL;

-- Small values of the server beside its runs, as JSON: those of one kind have the same part.
CREATE TABLE rows (part TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, name)) WITHOUT ROWID;
`, `
-- What the run has spent and its budget, as JSON, or ''.
ALTER TABLE runs ADD COLUMN purse TEXT NOT NULL DEFAULT '';
`}

// Versions of the schema: from sealed on blocks have digests. A database of readable or later is read as it is; from
// ledgered on it has a ledger, and from spending on the list says what was spent.
const (
	sealed   = 4
	readable = 5
	ledgered = 6
	spending = 7
)
