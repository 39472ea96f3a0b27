package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// The retention works in errands (transactions) that should take errandTime before their commit, because appends wait
// meanwhile.
const (
	errandTime  = 3 * time.Millisecond
	mostRemoved = 512     // maximum number of logs removed in one transaction
	mostFreed   = 4 << 20 // maximum size of these logs, unless one alone is larger
	mostPages   = 1024    // maximum number of pages freed in one transaction
	sparePages  = 1024    // free pages that the file keeps for later
)

// paced calls step with a growing n until there is no more to do. It shrinks n if a step takes too long.
func paced(most int, step func(n int) (more bool, took time.Duration, err error)) error {
	for n := 1; ; {
		more, took, err := step(n)
		if !more || err != nil {
			return err
		}
		if n = min(2*n, most); took > errandTime {
			n = max(n/4, 1)
		}
	}
}

// Expire implements [journal.Journal]. bytes counts the events as stored in the database. The disk gets back the freed
// space, except for a few megabytes.
func (j *Journal) Expire(ctx context.Context, before time.Time, bytes int64) (left int, err error) {
	expired, left, err := j.expired(ctx, before, bytes)
	if err != nil {
		return 0, explained(j.dir, err)
	}
	err = paced(mostRemoved, func(n int) (bool, time.Duration, error) {
		n = min(n, len(expired))
		size := int64(0)
		for i, log := range expired[:n] {
			if size += log.bytes; size > mostFreed && i > 0 {
				n = i
				break
			}
		}
		if n == 0 {
			return false, 0, nil
		}
		roots := make([]journal.Entry, n)
		for i, log := range expired[:n] { // before the transaction, for which appends wait: an ended log keeps its root
			if roots[i], err = rootOf(ctx, j.db, log.number, log.run); err != nil {
				return false, 0, explained(j.dir, err)
			}
		}
		took, err := j.writer.execute(ctx, func(exec exec) error {
			for i, log := range expired[:n] {
				if _, err := j.writer.removeLog(log.number, journal.EntryExpired, roots[i]); err != nil {
					return err
				}
			}
			return nil
		})
		expired = expired[n:]
		return true, took, err
	})
	if err == nil {
		err = paced(mostPages, func(n int) (bool, time.Duration, error) { return j.giveBack(ctx, n) })
	}
	if err != nil {
		return 0, err
	}
	return left, nil
}

// giveBack removes up to the given number of free pages from the file.
func (j *Journal) giveBack(ctx context.Context, pages int) (more bool, took time.Duration, err error) {
	var free int
	if err := j.db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
		return false, 0, explained(j.dir, err)
	}
	if free <= sparePages {
		return false, 0, nil
	}
	took, err = j.writer.execute(ctx, func(exec exec) error {
		_, err := exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
		return err
	})
	return true, took, err
}

// endedLog is an ended log that may be removed.
type endedLog struct {
	number, bytes int64
	run           messages.RunID
}

// expired returns the logs that should be removed, and the number of other ended logs.
func (j *Journal) expired(ctx context.Context, before time.Time, bytes int64) (all []endedLog, left int, err error) {
	var total int64
	row := j.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(bytes), 0) FROM runs WHERE ended = 1")
	if err := row.Scan(&left, &total); err != nil {
		return nil, 0, err
	}
	rows, err := j.db.QueryContext(ctx, "SELECT id, updated_at, bytes, run FROM runs WHERE ended = 1 ORDER BY updated_at, id")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var number, updated, size int64
		var run messages.RunID
		if err := rows.Scan(&number, &updated, &size, &run); err != nil {
			return nil, 0, err
		}
		if !time.Unix(0, updated).Before(before) && total <= bytes {
			break
		}
		all, left, total = append(all, endedLog{number, size, run}), left-1, total-size
	}
	return all, max(left, 0), rows.Err()
}

// removeLog deletes a run and its blocks, and enters that in the ledger.
func (w *writer) removeLog(number int64, kind journal.EntryKind, root journal.Entry) (removed int64, err error) {
	removed, err = w.exec("DELETE FROM runs WHERE id = ? AND ended = 1", number)
	if err == nil && removed > 0 {
		_, err = w.exec("DELETE FROM blocks WHERE run = ?", number)
	}
	if err == nil && removed > 0 {
		root.Kind = kind
		err = w.enter(root)
	}
	return removed, err
}

// DeleteLog implements [journal.Journal]. It records what was removed; [Check] reports that.
func (j *Journal) DeleteLog(ctx context.Context, run messages.RunID) error {
	var number int64
	var ended bool
	gone := journal.Removed{Log: journal.Log{Run: run}, RemovedAt: time.Now().UTC()}
	err := j.db.QueryRowContext(ctx, "SELECT id, ended, status, seq FROM runs WHERE run = ?", string(run)).
		Scan(&number, &ended, &gone.Status, &gone.Seq)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return journal.ErrNotFound(run)
	case err != nil:
		return explained(j.dir, err)
	case !ended:
		return journal.ErrNotEnded(run)
	}
	_, err = j.writer.execute(ctx, func(exec exec) error {
		root, err := rootOf(ctx, j.writer.conn, number, run)
		if err != nil {
			return err
		}
		root.Status, gone.Seq, gone.Chain = gone.Status, root.Seq, root.Chain
		line, err := json.Marshal(gone)
		if err != nil {
			return err
		}
		if n, err := j.writer.removeLog(number, journal.EntryRemoved, root); n == 0 || err != nil {
			return err
		}
		digest := sha256.Sum256(line)
		_, err = exec("INSERT INTO removed (line, digest) VALUES (?, ?)", string(line), digest[:])
		return err
	})
	return err
}

// Vacuum rewrites the database, so that its files hold nothing of removed logs. Nothing may append meanwhile.
func (j *Journal) Vacuum(ctx context.Context) error {
	_, err := j.writer.db.ExecContext(ctx, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
	return explained(j.dir, err)
}

// Forget is DeleteLog.
//
// Deprecated: Use [Journal.DeleteLog].
func (j *Journal) Forget(ctx context.Context, run messages.RunID) error { return j.DeleteLog(ctx, run) }
