package sqlite

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Option is an option of [Open].
type Option func(*writer)

// SignedBy gives the ledger of ends the function that returns the key that signs. Without it, and where the function
// fails, entries are not signed.
func SignedBy(key func() (ed25519.PrivateKey, error)) Option {
	return func(w *writer) { w.sign.Read = key }
}

// enter adds an entry to the ledger, within the current transaction. Only the writer's goroutine calls it.
func (w *writer) enter(e journal.Entry) error {
	if !w.ledgerKnown {
		w.ledger = journal.Ledger{}
		var line []byte
		err := w.row("SELECT entry, line FROM ledger ORDER BY entry DESC LIMIT 1").Scan(&w.ledger.Entries, &line)
		if err == nil {
			w.ledger.Head = sha256.Sum256(line)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		w.ledgerKnown = true
	}
	s, err := w.ledger.Seal(e, w.sign.Key())
	if err != nil {
		return err
	}
	_, err = w.exec("INSERT INTO ledger VALUES (?, nullif(?, ''), ?, ?, ?)", int64(w.ledger.Entries), string(e.Run), string(s.Line),
		append([]byte{}, s.Key...), append([]byte{}, s.Signature...))
	return err
}

// opened notes in the ledger that the store was opened. The first time it sums up what has ended before.
func (w *writer) opened() error {
	e := journal.Entry{Kind: journal.EntryOpened, Opening: w.opening}
	var entries int
	if err := w.row("SELECT count(*) FROM ledger").Scan(&entries); err != nil {
		return err
	}
	if entries > 0 {
		return w.enter(e)
	}
	e.Salt = journal.SaltDigest(w.journal.salt[:])
	var roots []string
	err := each(ctx, w.conn, "SELECT id, run FROM runs WHERE ended = 1", func(rows *sql.Rows) error {
		var number int64
		var run messages.RunID
		err := rows.Scan(&number, &run)
		if err == nil {
			var root journal.Entry
			root, err = rootOf(ctx, w.conn, number, run)
			roots = append(roots, root.Root())
		}
		return err
	})
	var removed [][]byte
	if err == nil {
		removed, err = removedLines(ctx, w.conn)
	}
	if err != nil {
		return err
	}
	e.Runs, e.Removed, e.Past = len(roots), len(removed), journal.Past(roots, removed)
	return w.enter(e)
}

// querier is what a database, a connection and a transaction have in common.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// each calls do for each row of a query.
func each(ctx context.Context, db querier, query string, do func(*sql.Rows) error, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rootOf returns the root of a log, by its last block. That of a damaged block has no chain.
func rootOf(ctx context.Context, db querier, number int64, run messages.RunID) (journal.Entry, error) {
	e := journal.Entry{Run: run}
	last, err := scanBlock(db.QueryRowContext(ctx, selectLast, number))
	if err == nil {
		if chain, _, bad := last.Check(journal.Chain{Seq: last.First - 1, Hash: last.Before}); bad == nil {
			e.Seq, e.Chain = chain.Seq, chain.Hash.String()
		}
	} else if primary, _ := codeOf(err); primary != 0 {
		return e, err
	}
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(opening), 0) FROM blocks WHERE run = ?", number).Scan(&e.Opening)
	return e, err
}

// removedLines returns the records of removed logs, in their order.
func removedLines(ctx context.Context, db querier) (all [][]byte, err error) {
	err = each(ctx, db, "SELECT line FROM removed ORDER BY rowid", func(rows *sql.Rows) error {
		var line []byte
		err := rows.Scan(&line)
		all = append(all, line)
		return err
	})
	return all, err
}

// Entry returns the ledger's last entry about the run. Errors: not_found.
func (j *Journal) Entry(ctx context.Context, run messages.RunID) (e journal.Entry, err error) {
	var line []byte
	err = j.db.QueryRowContext(ctx, "SELECT line FROM ledger WHERE run = ? ORDER BY entry DESC LIMIT 1", string(run)).Scan(&line)
	if errors.Is(err, sql.ErrNoRows) {
		return e, journal.ErrNotFound(run)
	}
	if err == nil {
		err = json.Unmarshal(line, &e)
	}
	return e, explained(j.dir, err)
}

// ledger reads the ledger, and checks its entries. After a fault nothing is compared with it.
func (c *checker) ledger() error {
	if c.version < ledgered {
		return nil
	}
	err := each(ctx, c.tx, "SELECT entry, coalesce(run, ''), line, key, signature FROM ledger ORDER BY entry", func(rows *sql.Rows) error {
		var s journal.SignedEntry
		var listed, e journal.Entry
		err := rows.Scan(&listed.Number, &listed.Run, &s.Line, &s.Key, &s.Signature)
		if err == nil {
			err = c.ends.Add("", 0, s)
		}
		if err == nil {
			err = json.Unmarshal(s.Line, &e)
		}
		if err == nil && (e.Number != listed.Number || e.Run != listed.Run) {
			err = &journal.Fault{Run: e.Run, Rule: journal.RuleLedger, Says: fmt.Sprintf("entry %d of the ledger is listed as entry %d of %q",
				e.Number, listed.Number, listed.Run)}
		}
		return err
	})
	c.report.Ledger, c.entered = &c.ends.Log, err == nil
	return err
}

// balance compares the ledger with what is there, after all logs were compared.
func (c *checker) balance() error {
	if !c.entered {
		return nil
	}
	var salt []byte
	var opening int64
	if err := c.tx.QueryRowContext(c.ctx, "SELECT salt, opening FROM store").Scan(&salt, &opening); err != nil {
		return err
	}
	lines, err := removedLines(c.ctx, c.tx)
	for _, fault := range append(c.ends.Rest(journal.SaltDigest(salt), lines), c.ends.Records(lines, opening)...) {
		c.fault(fault)
	}
	return err
}

// end compares the log of an ended run, which was read, with its entry. All of its blocks name one opening.
func (c *checker) end(h *head) (key []byte, err error) {
	e, key, listed := c.ends.End(h.summary.RunID)
	root, err := rootOf(c.ctx, c.tx, h.number, h.summary.RunID)
	root.Blocks = h.blocks.String()
	if err == nil {
		err = c.ends.Compare(root)
	}
	var others int
	if err == nil && listed {
		err = c.tx.QueryRowContext(c.ctx, "SELECT count(*) FROM blocks WHERE run = ? AND opening <> ?", h.number, e.Opening).Scan(&others)
	}
	if others > 0 {
		err = &journal.Fault{Run: e.Run, Rule: journal.RuleLedger, Says: "a block was written at another opening than the ledger says"}
	}
	return key, err
}

// missing reports whether the ledger says that the run ended and was not removed. Its log must be there then.
func (c *checker) missing(run messages.RunID) bool {
	e, _, listed := c.ends.End(run)
	if listed && c.entered {
		c.fault(e.Missing())
	}
	return listed
}
