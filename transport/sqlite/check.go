package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

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
	rows, err := c.tx.QueryContext(c.ctx, "SELECT first, last, epoch, terminal, body FROM blocks WHERE run = ? ORDER BY first",
		want.number)
	if err != nil {
		return err
	}
	defer rows.Close()
	var fold messages.Fold
	got := head{number: want.number}
	for rows.Next() {
		var first, last, epoch uint64
		var terminal bool
		var body []byte
		if err := rows.Scan(&first, &last, &epoch, &terminal, &body); err != nil {
			return err
		}
		events, err := decode(nil, body, 0)
		if err != nil {
			return fmt.Errorf("the block %d..%d: %w", first, last, err)
		}
		if n := len(events); first != got.Seq+1 || n == 0 || events[0].From != first || events[n-1].Seq != last ||
			terminal != events[n-1].IsTerminal() {
			return fmt.Errorf("the block %d..%d does not follow %d, or does not hold its events", first, last, got.Seq)
		}
		for _, e := range events {
			if e.RunID != want.summary.RunID {
				return fmt.Errorf("event %d is of run %s", e.Seq, e.RunID)
			}
			if err := fold.Apply(e); err != nil {
				return err
			}
			got.summary.Add(e)
		}
		c.report.Events += len(events)
		got.Seq, got.Epoch, got.Ended = last, max(got.Epoch, epoch), terminal
		got.bytes += int64(len(body))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, *want) {
		return fmt.Errorf("the list says that the run is %s at %d with %d bytes, its log says %s at %d with %d bytes",
			want.summary.Status, want.Seq, want.bytes, got.summary.Status, got.Seq, got.bytes)
	}
	return nil
}
