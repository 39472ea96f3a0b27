package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// merger merges the deltas of runs that have ended, beginning with those that ended before the journal was opened.
type merger struct{ journal *Journal }

// mergeAll merges until nothing is left or an error occurs. It meets the error again when the next run ends.
func (m *merger) mergeAll(ctx context.Context) {
	for more, err := true, error(nil); more && err == nil; {
		more, err = m.merge(ctx)
	}
}

// Limits of what is merged in one transaction, and of a resulting block. A single run may exceed them.
const (
	mostMerged      = 16
	mostMergedBytes = 4 << 20
	mergedBytes     = 256 << 10
)

// merge merges some of the ended runs, and reports whether there may be more.
func (m *merger) merge(ctx context.Context) (more bool, err error) {
	rows, err := m.journal.db.QueryContext(ctx, "SELECT id, bytes FROM runs WHERE ended = 1 AND merged = 0 LIMIT ?", mostMerged)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var numbers []int64
	for total := int64(0); rows.Next() && total < mostMergedBytes; {
		var number, bytes int64
		if err := rows.Scan(&number, &bytes); err != nil {
			return false, err
		}
		numbers, total = append(numbers, number), total+bytes
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(numbers) == 0 {
		return false, err
	}
	var runs []*mergedRun
	for _, number := range numbers {
		r, err := m.read(ctx, number)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil { // leave a damaged log as it is
			r = &mergedRun{number: number}
		}
		runs = append(runs, r)
	}
	_, err = m.journal.writer.execute(ctx, func(exec exec) error {
		for _, r := range runs {
			if err := r.write(m.journal.writer); err != nil {
				return err
			}
		}
		return nil
	})
	return true, err
}

// mergedRun is the log of an ended run, with its deltas merged.
type mergedRun struct {
	number  int64
	opening int64            // the one that the log's last block names
	events  []messages.Event // empty if the log stays as it is
	// last has the id and the writer of the log's last block, and the greatest epoch, so that an append that is
	// repeated is still recognized.
	last  journal.StoredBlock
	entry journal.Entry // of the run's end, if the ledger has one
}

// read reads a log and merges its deltas. A damaged log is left alone, because it must not get a new digest.
func (m *merger) read(ctx context.Context, number int64) (*mergedRun, error) {
	r := &mergedRun{number: number}
	var chain journal.Chain
	var blocks journal.Hash
	for b, err := range blocksOf(ctx, m.journal.db, number) {
		var events []messages.Event
		if err == nil {
			chain, events, err = b.Check(chain)
		}
		if err != nil {
			return nil, err
		}
		blocks = blocks.With(b.Digest)
		b.Epoch = max(b.Epoch, r.last.Epoch)
		r.last, r.events = b, messages.DropTexts(append(r.events, events...))
	}
	var run messages.RunID
	err := m.journal.db.QueryRowContext(ctx, "SELECT run, (SELECT max(opening) FROM blocks WHERE blocks.run = runs.id) FROM runs WHERE id = ?", number).
		Scan(&run, &r.opening)
	if err == nil {
		r.entry, err = m.journal.Entry(ctx, run)
	}
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound: // it ended before the ledger began
	case err != nil:
		return nil, err
	case r.entry.Blocks != blocks.String():
		return nil, errDamaged(run, errors.New("it is not the log that the ledger has an entry of"))
	}
	merged := messages.MergeDeltas(r.events)
	if len(merged) == len(r.events) {
		merged = nil
	}
	r.events = merged
	return r, nil
}

// write replaces the blocks of the log.
func (r *mergedRun) write(w *writer) error {
	exec, opening := w.exec, w.opening
	if n, err := exec("UPDATE runs SET merged = 1 WHERE id = ? AND ended = 1 AND merged = 0", r.number); n == 0 || len(r.events) == 0 {
		return err // the log may have been removed
	}
	if _, err := exec("DELETE FROM blocks WHERE run = ?", r.number); err != nil {
		return err
	}
	bytes := 0
	var chain, blocks journal.Hash
	for rest := r.events; len(rest) > 0; {
		n, size := 1, rest[0].Size()
		for n < len(rest) && size+rest[n].Size() <= mergedBytes {
			size += rest[n].Size()
			n++
		}
		b, err := journal.Block{Events: rest[:n]}.Stored()
		if err != nil {
			return err
		}
		if n == len(rest) {
			b.ID, b.Writer, b.Epoch = r.last.ID, r.last.Writer, r.last.Epoch
		}
		chain = b.Seal(chain, rest[:n])
		blocks = blocks.With(b.Digest)
		body := bodyOf(b.Lines)
		if err := insert(exec, r.number, opening, &b, body); err != nil {
			return err
		}
		rest, bytes = rest[n:], bytes+len(body)
	}
	_, err := exec("UPDATE runs SET bytes = ? WHERE id = ?", bytes, r.number)
	if err == nil && r.opening != opening { // inserting needs the current one
		_, err = exec("UPDATE blocks SET opening = ? WHERE run = ?", r.opening, r.number)
	}
	if err == nil && r.entry.Run != "" {
		e := r.entry
		e.Kind, e.Blocks = journal.EntryMerged, blocks.String()
		err = w.enter(e)
	}
	return err
}

// Copy writes what the journal in the directory holds now, of any schema, into another directory that has none, also
// beside a live server. The new file has no holes and no log. Where Copy fails, it may leave a part of the file.
func Copy(ctx context.Context, dir, to string) error {
	file := filepath.Join(to, databaseFile)
	return explained(dir, either(dir, func(how string) error {
		db, err := openReading(dir, how)
		if err != nil {
			return err
		}
		if err = os.WriteFile(file, nil, 0o600); err == nil { // SQLite fills an empty file
			_, err = db.ExecContext(ctx, "VACUUM INTO ?", file)
		}
		switch primary, _ := codeOf(err); {
		case err != nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		case primary == lib.SQLITE_FULL:
			err = explained(to, err)
		}
		return errors.Join(err, db.Close())
	}))
}

// Owns reports whether the file of a directory, by its name, belongs to the journal: Copy writes what is in it.
func Owns(name string) bool { return name == lockFile || strings.HasPrefix(name, databaseFile) }

// either opens the directory beside a writer or, where SQLite would have to write and cannot, as one that has none.
func either(dir string, open func(how string) error) error {
	err := open(beside)
	if primary, _ := codeOf(err); primary == lib.SQLITE_READONLY || primary == lib.SQLITE_CANTOPEN {
		if _, live := os.Stat(filepath.Join(dir, databaseFile+"-wal")); errors.Is(live, fs.ErrNotExist) {
			return open(alone)
		}
	}
	return err
}
