package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Report is what [Check] has found.
type Report struct {
	Runs   int     `json:"runs"`
	Events int     `json:"events"`
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is something wrong in a journal.
type Fault struct {
	// Run is whose log is wrong, or "" if it is the database.
	Run  messages.RunID `json:"run,omitempty"`
	Says string         `json:"says"`
}

// mostFaults bounds the Report of a journal that is damaged all over.
const mostFaults = 100

// Check reads the whole journal of the directory, beside a live server too: whether the database is sound, whether
// every log has its numbers without a gap, keeps the law of [messages.Fold] and ends where it has to, and whether the
// lists say what the logs say. The error says why it could not read.
func Check(ctx context.Context, dir string) (Report, error) {
	return check(ctx, dir, (*checker).database, (*checker).strays, (*checker).runs)
}

// CheckDatabase is Check without the logs.
func CheckDatabase(ctx context.Context, dir string) (Report, error) {
	return check(ctx, dir, (*checker).database)
}

func check(ctx context.Context, dir string, checks ...func(*checker) error) (Report, error) {
	r, err := OpenReader(dir)
	if err != nil {
		return Report{}, err
	}
	defer r.Close()
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one state of a journal that goes on
	if err != nil {
		return Report{}, explained(dir, err)
	}
	defer func() { _ = tx.Rollback() }()
	c := &checker{ctx: ctx, tx: tx}
	for _, check := range checks {
		if err := check(c); ctx.Err() != nil {
			return c.report, context.Cause(ctx)
		} else if err != nil {
			c.fault("", "%v", err)
		}
	}
	return c.report, nil
}

type checker struct {
	ctx    context.Context
	tx     *sql.Tx
	report Report
}

func (c *checker) fault(run messages.RunID, format string, args ...any) {
	if len(c.report.Faults) < mostFaults {
		c.report.Faults = append(c.report.Faults, Fault{run, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) database() error {
	rows, err := c.tx.QueryContext(c.ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", mostFaults))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var says string
		if err := rows.Scan(&says); err != nil {
			return err
		}
		if says != "ok" {
			c.fault("", "%s", says)
		}
	}
	return rows.Err()
}

func (c *checker) strays() error {
	var n int
	err := c.tx.QueryRowContext(c.ctx, "SELECT count(*) FROM blocks WHERE run NOT IN (SELECT id FROM runs)").Scan(&n)
	if n > 0 {
		c.fault("", "%d blocks belong to no run", n)
	}
	return err
}

func (c *checker) runs() error {
	rows, err := c.tx.QueryContext(c.ctx, "SELECT "+summaryColumns+", id, epoch, ended, bytes FROM runs ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var h head
		if err := scanSummary(rows, &h.summary, &h.number, &h.Epoch, &h.Ended, &h.bytes); err != nil {
			return err
		}
		h.Seq = h.summary.Seq
		c.report.Runs++
		if err := c.log(&h); err != nil {
			c.fault(h.summary.RunID, "%v", err)
		}
	}
	return rows.Err()
}

// log reads a run's log and compares it with what the runs' table says of it.
func (c *checker) log(want *head) error {
	var fold messages.Fold
	var at journal.Chain
	got := head{number: want.number}
	for b, err := range blocksOf(c.ctx, c.tx, want.number) {
		if err != nil {
			return err
		}
		var events []messages.Event
		if at, events, err = b.Check(at); err != nil {
			return fmt.Errorf("the block %d..%d: %w", b.First, b.Last, err)
		}
		for i, e := range events {
			if e.RunID != want.summary.RunID {
				return fmt.Errorf("event %d is of run %s", e.Seq, e.RunID)
			}
			if err := fold.Apply(e); err != nil {
				return err
			}
			got.summary.Add(e)
			got.bytes += int64(framed(b.Lines[i]))
		}
		c.report.Events += len(events)
		got.Seq, got.Epoch, got.Ended = b.Last, max(got.Epoch, b.Epoch), b.Terminal
	}
	if !reflect.DeepEqual(got, *want) {
		return fmt.Errorf("the list says that the run is %s, its log says %s", want, &got)
	}
	return nil
}

// String says what the runs' table says of a log.
func (h *head) String() string {
	says, _ := json.Marshal(h.summary) // of texts and times alone
	return fmt.Sprintf("%s at %d with %d bytes, epoch %d, ended: %t, %s", h.summary.Status, h.Seq, h.bytes, h.Epoch, h.Ended, says)
}
