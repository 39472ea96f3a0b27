package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	lib "modernc.org/sqlite/lib"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// mostFaults limits the report on a badly damaged journal.
const mostFaults = 100

// Check verifies the journal in the directory, even beside a live server. It checks the database, each log by a
// [journal.Audit], and whether the list of runs agrees with the logs. If runs are given, it checks only their logs. The
// error says why the journal could not be read: not_found for an unknown run.
func Check(ctx context.Context, dir string, runs ...messages.RunID) (journal.Report, error) {
	if len(runs) == 0 {
		return check(ctx, dir, (*checker).database, (*checker).strays, (*checker).removed, (*checker).ledger, (*checker).all, (*checker).balance)
	}
	return check(ctx, dir, (*checker).removed, (*checker).ledger, func(c *checker) error { return c.only(runs) })
}

// CheckDatabase is like Check, but does not check logs.
func CheckDatabase(ctx context.Context, dir string) (journal.Report, error) {
	return check(ctx, dir, (*checker).database)
}

// check makes the checks on one snapshot. A check that fails is a fault of the database; only a canceled ctx and
// unreadable files are errors.
func check(ctx context.Context, dir string, checks ...func(*checker) error) (journal.Report, error) {
	c := &checker{ctx: ctx, report: journal.Report{Faults: []journal.Fault{}}}
	r, err := openEither(dir)
	if err == nil {
		defer r.Close()
		c.version = r.version
		c.tx, err = r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one snapshot, while the journal changes
	}
	switch primary, _ := codeOf(err); {
	case primary == lib.SQLITE_CORRUPT || primary == lib.SQLITE_NOTADB:
		c.fault(journal.Fault{Rule: journal.RuleStore, Says: err.Error()})
		return c.report, nil
	case err != nil:
		return c.report, explained(dir, err)
	}
	defer func() { _ = c.tx.Rollback() }()
	for _, check := range checks {
		err := check(c)
		switch {
		case ctx.Err() != nil:
			return c.report, context.Cause(ctx)
		case messages.CodeOf(err) == messages.CodeNotFound:
			return c.report, err
		case err != nil:
			c.fault(faultOf("", err))
		}
	}
	return c.report, nil
}

// faultOf returns the error as a fault of the run. One that is none is about the database.
func faultOf(run messages.RunID, err error) journal.Fault {
	if known, ok := errors.AsType[*journal.Fault](err); ok {
		return *known
	}
	return journal.Fault{Run: run, Rule: journal.RuleStore, Says: err.Error()}
}

// checker checks one snapshot of a journal, and collects the faults.
type checker struct {
	ctx    context.Context
	tx     *sql.Tx
	report journal.Report
	named  bool // the report lists the logs
	ends   journal.Ends
	// version is the schema's. entered says that the store has a ledger whose entries follow each other.
	version int
	entered bool
}

// fault adds a fault to the report, up to a maximum.
func (c *checker) fault(f journal.Fault) {
	if len(c.report.Faults) < mostFaults {
		c.report.Faults = append(c.report.Faults, f)
	}
}

// database has SQLite check its own structure.
func (c *checker) database() error {
	return each(c.ctx, c.tx, fmt.Sprintf("PRAGMA integrity_check(%d)", mostFaults), func(rows *sql.Rows) error {
		var says string
		err := rows.Scan(&says)
		if err == nil && says != "ok" {
			c.fault(journal.Fault{Rule: journal.RuleStore, Says: says})
		}
		return err
	})
}

// strays looks for blocks that belong to no run.
func (c *checker) strays() error {
	var n int
	err := c.tx.QueryRowContext(c.ctx, "SELECT count(*) FROM blocks WHERE run NOT IN (SELECT id FROM runs)").Scan(&n)
	if n > 0 {
		c.fault(journal.Fault{Rule: journal.RuleList, Says: fmt.Sprintf("%d blocks belong to no run", n)})
	}
	return err
}

// removed reads the records of removed logs.
func (c *checker) removed() error {
	return each(c.ctx, c.tx, "SELECT line, digest FROM removed ORDER BY rowid", func(rows *sql.Rows) error {
		var line, digest []byte
		var gone journal.Removed
		if err := rows.Scan(&line, &digest); err != nil {
			return err
		}
		if sum := sha256.Sum256(line); !bytes.Equal(sum[:], digest) || json.Unmarshal(line, &gone) != nil {
			c.fault(journal.Fault{Rule: journal.RuleList, Says: "what is said of a run that was removed is not what was written"})
		}
		c.report.Removed = append(c.report.Removed, gone)
		return nil
	})
}

// selectHeads selects all that the writer knows about a run.
func (c *checker) selectHeads() string {
	return "SELECT " + columns(c.version < spending) + ", id, epoch, ended, bytes FROM runs"
}

// all checks every log.
func (c *checker) all() error {
	return each(c.ctx, c.tx, c.selectHeads()+" ORDER BY id", func(rows *sql.Rows) error { return c.run(rows) })
}

// only checks the logs of some runs. It keeps only the records of these among the removed.
func (c *checker) only(runs []messages.RunID) error {
	c.named = true
	c.report.Removed = slices.DeleteFunc(c.report.Removed, func(r journal.Removed) bool { return !slices.Contains(runs, r.Run) })
	for _, run := range runs {
		err := c.run(c.tx.QueryRowContext(c.ctx, c.selectHeads()+" WHERE run = ?", string(run)))
		gone := slices.ContainsFunc(c.report.Removed, func(r journal.Removed) bool { return r.Run == run })
		if errors.Is(err, sql.ErrNoRows) && !c.missing(run) && !gone {
			return journal.ErrNotFound(run)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// run checks the log of a row of the table runs.
func (c *checker) run(row interface{ Scan(...any) error }) error {
	var h head
	if err := scanSummary(row, &h.summary, &h.number, &h.Epoch, &h.Ended, &h.bytes); err != nil {
		return err
	}
	h.Seq = h.summary.Seq
	c.report.Runs++
	err := c.log(&h)
	if h.Ended && c.entered {
		key, differs := c.end(&h)
		if err = cmp.Or(err, differs); err == nil && c.named {
			c.report.Logs[len(c.report.Logs)-1].Key = key
		}
	}
	if err != nil {
		c.fault(faultOf(h.summary.RunID, err))
	}
	return nil
}

// log reads a run's log, and compares it with the row of the table runs.
func (c *checker) log(want *head) error {
	audit := journal.Audit{Run: want.summary.RunID}
	got := head{number: want.number}
	for b, err := range blocksOf(c.ctx, c.tx, want.number) {
		if err != nil {
			return err
		}
		events, err := audit.Add(b)
		if err != nil {
			return err
		}
		for _, e := range events {
			got.summary.Add(e)
		}
		for _, line := range b.Lines {
			got.bytes += int64(framed(line))
		}
		got.Seq, got.Epoch, got.Ended = b.Last, max(got.Epoch, b.Epoch), b.Terminal
		want.blocks = want.blocks.With(b.Digest)
	}
	if got.blocks = want.blocks; want.summary.Purse == nil && want.summary.Budget == nil { // an older version has listed it
		got.summary.Purse, got.summary.Budget = nil, nil
	}
	c.report.Events += audit.Events
	if !reflect.DeepEqual(got, *want) {
		return &journal.Fault{Run: audit.Run, Seq: got.Seq, Rule: journal.RuleList,
			Says: fmt.Sprintf("the list says that the run is %s, its log says %s", want, &got)}
	}
	if c.named {
		c.report.Logs = append(c.report.Logs, audit.Log())
	}
	return nil
}

// String returns the row of the table runs as text, for comparison and for reports.
func (h *head) String() string {
	says, _ := json.Marshal(h.summary) // texts and times only
	return fmt.Sprintf("%s at %d with %d bytes, epoch %d, ended: %t, %s", h.summary.Status, h.Seq, h.bytes, h.Epoch, h.Ended, says)
}
