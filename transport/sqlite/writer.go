package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Limits of the queue, and of one commit.
const (
	mostWaiting      = 4096
	mostWaitingBytes = 64 << 20
	mostGrouped      = 512
	mostGroupedBytes = 4 << 20
)

// pending is a block in the queue.
type pending struct {
	journal.Block
	stored journal.StoredBlock // without digest and chain
	body   []byte
	done   func(error)

	head    *head // of the block's run
	written bool  // whether the group's transaction wrote it
	err     error // why it was not written; nil if the log already has it
}

// writer is the goroutine that writes to the database. It commits all waiting blocks as one group. mu guards the queue;
// the fields at the end belong to the goroutine.
type writer struct {
	journal *Journal
	opening int64 // number of this opening of the directory

	mu     sync.Mutex
	queue  []*pending
	bytes  int // size of the queue
	errand chan *errand
	closed bool
	wake   chan struct{} // has a token when there is work
	over   chan struct{} // closed when the goroutine has ended

	// Only the goroutine uses these.
	db    *sql.DB
	conn  *sql.Conn // nil after a commit whose outcome is unknown
	stmts map[string]*sql.Stmt
	heads map[messages.RunID]*head // unfinished runs, as of the current transaction
	next  int64                    // the id of the next new run
	sign  journal.Signer
	// ledger is the head of the ledger of ends, if ledgerKnown.
	ledger      journal.Ledger
	ledgerKnown bool
}

// errand is a transaction other than appends. took excludes the commit, whose cost does not depend on the size of the
// transaction.
type errand struct {
	do   func(exec) error
	took time.Duration
	done chan error // receives the result
}

// exec executes a statement, and returns the number of changed rows.
type exec func(query string, args ...any) (int64, error)

// openWriter opens the one connection that writes, and starts its goroutine. synchronous(FULL) makes a commit wait for
// the disk.
func openWriter(j *Journal, with []Option) (*writer, error) {
	db, err := connect(j.dir, url.Values{"_pragma": {"auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)",
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)"}})
	if err != nil {
		return nil, err
	}
	w := &writer{journal: j, db: db, heads: map[messages.RunID]*head{}, errand: make(chan *errand),
		wake: make(chan struct{}, 1), over: make(chan struct{})}
	for _, option := range with {
		option(w)
	}
	if err := w.begin(); err != nil {
		w.disconnect()
		return nil, errors.Join(err, db.Close())
	}
	go w.run()
	return w, nil
}

// begin updates the schema and counts this opening.
func (w *writer) begin() error {
	if err := w.connect(); err != nil {
		return err
	}
	var version int
	if err := w.row("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return wrongSchema(w.journal.dir, version)
	}
	old := version
	err := w.transaction(func() error {
		for ; version < len(migrations); version++ {
			if _, err := w.conn.ExecContext(ctx, migrations[version]); err != nil {
				return err
			}
		}
		if old < spending {
			if err := w.seal(old); err != nil {
				return err
			}
		}
		if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
			return err
		}
		if _, err := w.exec("UPDATE store SET opening = opening + 1"); err != nil {
			return err
		}
		var salt []byte
		if err := w.row("SELECT opening, salt FROM store").Scan(&w.opening, &salt); err != nil {
			return err
		}
		copy(w.journal.salt[:], salt)
		return w.opened()
	})
	if err != nil {
		return err
	}
	w.rewrite()
	return w.row("SELECT coalesce(max(id), 0) + 1 FROM runs").Scan(&w.next)
}

// wrongSchema says what to do with a database of another version.
func wrongSchema(dir string, version int) error {
	if version > len(migrations) {
		return messages.Errorf(messages.CodeUnavailable,
			"%s was written by a newer lastword (schema %d, this one knows %d): install that version, or choose another directory", dir, version, len(migrations))
	}
	return messages.Errorf(messages.CodeUnavailable,
		"%s was written by an older lastword (schema %d, this one knows %d): start the server there once", dir, version, len(migrations))
}

// ctx is the context of the writer's statements. A context that can end would cost a goroutine for each statement.
var ctx = context.Background()

// connect takes the connection that writes, after the start or after an error.
func (w *writer) connect() (err error) {
	if w.conn == nil {
		w.stmts = map[string]*sql.Stmt{}
		w.conn, err = w.db.Conn(ctx)
	}
	return err
}

// disconnect closes the connection. The next transaction opens a new one, which sees what the database really holds.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	clear(w.heads)
	w.ledgerKnown = false
	for _, stmt := range w.stmts { // SQLite keeps a connection open while it has statements
		_ = stmt.Close()
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // makes database/sql close the connection
	_ = w.conn.Close()
	w.conn = nil
}

// prepared returns the prepared statement for a query. The connection keeps it.
func (w *writer) prepared(query string) (*sql.Stmt, error) {
	if stmt := w.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.stmts[query] = stmt
	}
	return stmt, err
}

// exec executes a statement within the current transaction.
func (w *writer) exec(query string, args ...any) (int64, error) {
	stmt, err := w.prepared(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row returns one row. An error comes with Scan, as in database/sql.
func (w *writer) row(query string, args ...any) interface{ Scan(...any) error } {
	stmt, err := w.prepared(query)
	if err != nil {
		return failed{err}
	}
	return stmt.QueryRowContext(ctx, args...)
}

// failed is the result of a query that could not be prepared.
type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// doubt is the error of a COMMIT whose outcome is unknown: the transaction may be stored.
type doubt struct{ err error }

func (d doubt) Error() string { return d.err.Error() }
func (d doubt) Unwrap() error { return d.err }

// transaction runs do in a transaction. The error is a [doubt] if the outcome is unknown.
func (w *writer) transaction(do func() error) error {
	if err := w.connect(); err != nil {
		return err
	}
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if _, err = w.exec("COMMIT"); err == nil {
			return nil
		}
		// The transaction may be stored, because its frames may be in the write-ahead log. After a "disk full", no complete
		// frame was written.
		if primary, _ := codeOf(err); primary != lib.SQLITE_FULL && primary != lib.SQLITE_READONLY {
			w.disconnect()
			return doubt{err}
		}
	}
	clear(w.heads)
	w.ledgerKnown = false
	if _, rollback := w.exec("ROLLBACK"); rollback != nil {
		w.disconnect() // SQLite has already rolled back, or cannot
	}
	return err
}

// run is the goroutine's loop. It commits groups until close. Errands wait while there are groups, but not for ever:
// see errandShare.
func (w *writer) run() {
	defer close(w.over)
	var owed time.Duration // what appends may take before the next errand
	for turn := 1; ; turn++ {
		group, closed := w.take()
		switch {
		case len(group) > 0:
			began := time.Now()
			w.commit(group)
			owed -= time.Since(began)
			if turn%checkpointEvery == 0 {
				w.journal.copier.signal()
			}
			if owed <= 0 {
				select {
				case e := <-w.errand:
					began = time.Now()
					w.runErrand(e)
					owed = errandShare * time.Since(began)
				default:
				}
			}
		case closed:
			return
		default:
			select {
			case <-w.wake:
			case e := <-w.errand:
				w.runErrand(e)
			}
		}
	}
}

// errandShare limits how long appends may keep an errand waiting, as a multiple of the last errand's duration.
// Otherwise runs could write faster than their logs are merged and removed.
const errandShare = 2

// runErrand runs an errand and reports its outcome.
func (w *writer) runErrand(e *errand) {
	e.done <- w.transaction(func() error {
		began := time.Now()
		err := e.do(w.exec)
		e.took = time.Since(began)
		return err
	})
}

// checkpoint copies the write-ahead log to the database while the writer continues. If the log is long, the writer
// itself copies the rest and restarts the log.
func (w *writer) checkpoint(ctx context.Context) {
	_, _ = w.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the writer will get the error as well
}

// checkpointEvery is the number of groups between two checkpoints.
const checkpointEvery = 512

// take takes the next group from the queue.
func (w *writer) take() (group []*pending, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, bytes := 0, 0
	for n < len(w.queue) && n < mostGrouped && (n == 0 || bytes+len(w.queue[n].body) <= mostGroupedBytes) {
		bytes += len(w.queue[n].body)
		n++
	}
	group, w.queue = w.queue[:n:n], w.queue[n:]
	if w.bytes -= bytes; len(w.queue) == 0 {
		w.queue = nil
	}
	return group, w.closed
}

// put adds a block to the queue. It refuses the block if the queue is full or closed.
func (w *writer) put(p *pending) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return refused(messages.Errorf(messages.CodeUnavailable, "the journal in %s is closed", w.journal.dir))
	case len(w.queue) >= mostWaiting || len(w.queue) > 0 && w.bytes+len(p.body) > mostWaitingBytes:
		return refused(messages.Errorf(messages.CauseJournalUnavailable, "the disk of %s is too slow: %d blocks wait",
			w.journal.dir, len(w.queue)))
	}
	w.queue, w.bytes = append(w.queue, p), w.bytes+len(p.body)
	w.signal()
	return nil
}

// signal wakes the goroutine. It never blocks.
func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// execute runs a transaction as an errand. It returns how long that took without the commit.
func (w *writer) execute(c context.Context, do func(exec) error) (took time.Duration, err error) {
	e := &errand{do: do, done: make(chan error, 1)}
	select {
	case w.errand <- e:
		err = <-e.done
		return e.took, explained(w.journal.dir, err)
	case <-w.over:
		return 0, messages.Errorf(messages.CodeUnavailable, "the journal in %s is closed", w.journal.dir)
	case <-c.Done():
		return 0, context.Cause(c)
	}
}

// close stops the goroutine after it has written all accepted blocks.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.over
	w.disconnect()
	return w.db.Close()
}
