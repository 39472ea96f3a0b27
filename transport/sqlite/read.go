package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// store reads the database of a directory. It is safe for concurrent use.
type store struct {
	dir  string
	db   *sql.DB
	page *sql.Stmt // readSQL: the parser of SQL takes half the time of a short read
	old  bool      // its list does not say what was spent
}

// batchBytes is the size after which a Read returns no further block.
const batchBytes = 1 << 20

// readSQL selects the head of a run together with the blocks after an event.
const readSQL = `SELECT r.seq, r.epoch, r.ended, b.id, b.body FROM runs r LEFT JOIN blocks b ON b.run = r.id AND r.seq > ?2
	AND b.first >= coalesce((SELECT max(first) FROM blocks WHERE run = r.id AND first <= ?2 + 1), 0)
	WHERE r.run = ?1 ORDER BY b.first`

// Read implements [journal.Reader].
func (s *store) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	page, err := s.read(ctx, run, after)
	if err != nil && ctx.Err() == nil {
		err = explained(s.dir, err)
	}
	return page, err
}

// read reads a page, and the head in the same statement, so that both agree.
func (s *store) read(ctx context.Context, run messages.RunID, after uint64) (page journal.Page, err error) {
	rows, err := s.page.QueryContext(ctx, string(run), int64(min(after, maxSeq)))
	if err != nil {
		return page, err
	}
	defer rows.Close()
	bytes := 0
	for known := false; rows.Next(); known = true {
		var id, body sql.RawBytes
		if err := rows.Scan(&page.Head.Seq, &page.Head.Epoch, &page.Head.Ended, &id, &body); err != nil {
			return page, err
		}
		if known && bytes >= batchBytes {
			return page, nil
		}
		bytes += len(body)
		all, err := lines(slices.Clone(body)) // the driver reuses the body's memory
		events, bad := (&journal.StoredBlock{Lines: all}).Events()
		if err = cmp.Or(err, bad); err != nil {
			return page, errDamaged(run, err)
		}
		if events = events[journal.FirstAfter(events, after):]; len(events) > 0 && len(id) == len(journal.BlockID{}) {
			page.Blocks = append(page.Blocks, journal.BlockID(id))
		}
		page.Events = append(page.Events, events...)
	}
	if err := rows.Err(); err != nil {
		return page, err
	}
	if page.Head.Seq == 0 {
		return page, journal.ErrNotFound(run)
	}
	return page, nil
}

// maxSeq limits event numbers in SQL, whose integers are signed.
const maxSeq = 1 << 62

// summaryColumns are the columns of a summary, in the order of scanSummary.
const summaryColumns = "run, principal, job, input, labels, requests, purse, status, canceling, cause, seq, queued_at, updated_at"

// columns returns summaryColumns, as far as the schema has them.
func columns(old bool) string {
	if old {
		return strings.Replace(summaryColumns, "purse", "''", 1)
	}
	return summaryColumns
}

// purse is the column of what a run has spent and may spend.
type purse struct {
	Purse  *messages.Purse  `json:"purse,omitempty"`
	Budget *messages.Budget `json:"budget,omitempty"`
}

// packPurse returns the column, or "" if the run has spent nothing and has no budget.
func packPurse(s *messages.Summary) (string, error) {
	if s.Purse == nil && s.Budget == nil {
		return "", nil
	}
	return pack(purse{s.Purse, s.Budget}, 1)
}

// scanSummary scans the summaryColumns, and then more.
func scanSummary(rows interface{ Scan(...any) error }, s *messages.Summary, more ...any) error {
	var labels, requests, spent string
	var has purse
	var queued, updated int64
	err := rows.Scan(append([]any{&s.RunID, &s.Principal, &s.Job, &s.Input, &labels, &requests, &spent, &s.Status, &s.Canceling, &s.Cause, &s.Seq,
		&queued, &updated}, more...)...)
	if err != nil {
		return err
	}
	s.QueuedAt, s.UpdatedAt = time.Unix(0, queued).UTC(), time.Unix(0, updated).UTC()
	err = errors.Join(unpack(labels, &s.Labels), unpack(requests, &s.OpenRequests), unpack(spent, &has))
	s.Purse, s.Budget = has.Purse, has.Budget
	return err
}

// pack returns v as JSON, or "" if size is 0. unpack is its inverse.
func pack(v any, size int) (string, error) {
	if size == 0 {
		return "", nil
	}
	data, err := json.Marshal(v)
	return string(data), err
}

func unpack(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

// List implements [journal.Reader].
func (s *store) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	query, args := listSQL(q, s.old)
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explained(s.dir, err)
	}
	defer rows.Close()
	var list []messages.Summary
	for len(list) < q.Most() && rows.Next() {
		var run messages.Summary
		if err := scanSummary(rows, &run); err != nil {
			return nil, explained(s.dir, err)
		}
		if q.Selects(&run) { // checks labels too, which the query does not
			list = append(list, run)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, explained(s.dir, err)
	}
	return list, nil
}

// listSQL returns the query for the runs that q selects, in order. It ignores labels.
func listSQL(q messages.Query, old bool) (string, []any) {
	var where strings.Builder
	var args []any
	where.WriteString("SELECT " + columns(old) + " FROM runs WHERE TRUE")
	if !q.Everyone { // listing everyone's runs has no index; only the node's operator does that
		where.WriteString(" AND principal = ?")
		args = append(args, q.Principal)
	}
	if len(q.Runs) > 0 {
		where.WriteString(" AND run IN (?" + strings.Repeat(", ?", len(q.Runs)-1) + ")")
		for _, run := range q.Runs {
			args = append(args, string(run))
		}
	}
	if q.Job != "" {
		where.WriteString(" AND job = ?")
		args = append(args, q.Job)
	}
	if len(q.Status) > 0 {
		where.WriteString(" AND status IN (?" + strings.Repeat(", ?", len(q.Status)-1) + ")")
		for _, status := range q.Status {
			args = append(args, string(status))
		}
	}
	column := "updated_at"
	if q.ByQueued {
		column = "queued_at"
	}
	if q.After != nil {
		when := q.After.UpdatedAt
		if q.ByQueued {
			when = q.After.QueuedAt
		}
		where.WriteString(" AND " + column + " <= ?")
		args = append(args, when.UnixNano())
	}
	order := " ORDER BY " + column + " DESC, run"
	switch live := len(q.Status) > 0 && !slices.ContainsFunc(q.Status, messages.Status.IsEnded); {
	case live: // every start of a node asks for these
		return where.String() + " AND ended = 0" + order, args
	case q.ByQueued:
		return where.String() + order, args
	}
	return where.String() + " AND ended = 0 UNION ALL " + where.String() + " AND ended = 1" + order, append(args, args...)
}
