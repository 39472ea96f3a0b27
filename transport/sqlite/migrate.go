package sqlite

import (
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	lib "modernc.org/sqlite/lib"
)

// seal adds chains and digests to the blocks of older schemas, and fills new columns of runs. It skips a log that
// cannot be read; [Check] reports it.
func (w *writer) seal() error {
	rows, err := w.conn.QueryContext(ctx, "SELECT id FROM runs")
	if err != nil {
		return err
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var number int64
		if err := rows.Scan(&number); err != nil {
			return err
		}
		numbers = append(numbers, number)
	}
	if err := rows.Err(); err != nil {
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
			return nil
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
	if err == nil {
		_, err = w.exec("UPDATE runs SET input = ?, requests = ? WHERE id = ?", s.Input, requests, number)
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
