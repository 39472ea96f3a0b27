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

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Limits of what waits for the writer, and of one commit.
const (
	mostWaiting      = 4096
	mostWaitingBytes = 64 << 20
	mostGrouped      = 512
	mostGroupedBytes = 4 << 20
)

// pending is a block that waits for the writer.
type pending struct {
	journal.Block
	stored journal.StoredBlock // without its seal
	body   []byte
	done   func(error)

	head    *head // of its run
	written bool  // with its group
	err     error // why it was not written; nil if the log holds it already
}

// writer is the one goroutine that writes to the database. It commits what waits as one group.
type writer struct {
	journal *Journal
	opening int64 // of the directory

	mu     sync.Mutex
	queue  []*pending
	bytes  int // of the queue
	errand chan *errand
	closed bool
	wake   chan struct{}
	over   chan struct{}

	// for the goroutine alone
	db    *sql.DB
	conn  *sql.Conn // nil after an error in doubt
	stmts map[string]*sql.Stmt
	heads map[messages.RunID]*head // of unfinished runs, as of the transaction
	next  int64                    // number of a new run
}

// errand is a transaction of something other than appends. It took so long without its commit, which costs the same
// however much it does.
type errand struct {
	do   func(exec) error
	took time.Duration
	done chan error
}

// exec executes a statement, and returns how many rows it has changed.
type exec func(query string, args ...any) (int64, error)

func openWriter(j *Journal) (*writer, error) {
	db, err := connect(j.dir, url.Values{"_pragma": {"auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)",
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)"}})
	if err != nil {
		return nil, err
	}
	w := &writer{journal: j, db: db, heads: map[messages.RunID]*head{}, errand: make(chan *errand),
		wake: make(chan struct{}, 1), over: make(chan struct{})}
	if err := w.begin(); err != nil {
		w.disconnect()
		return nil, errors.Join(err, db.Close())
	}
	go w.run()
	return w, nil
}

// begin brings the schema up to date and counts the opening.
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
		if old < sealed {
			if err := w.seal(); err != nil {
				return err
			}
		}
		if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
			return err
		}
		_, err := w.exec("UPDATE store SET opening = opening + 1")
		return err
	})
	if err != nil {
		return err
	}
	w.rewrite()
	var salt []byte
	if err := w.row("SELECT opening, salt FROM store").Scan(&w.opening, &salt); err != nil {
		return err
	}
	copy(w.journal.salt[:], salt)
	return w.row("SELECT coalesce(max(id), 0) + 1 FROM runs").Scan(&w.next)
}

func wrongSchema(dir string, version int) error {
	if version > len(migrations) {
		return messages.Errorf(messages.CodeUnavailable,
			"%s was written by a newer lastword (schema %d, this one knows %d): install that version, or choose another directory", dir, version, len(migrations))
	}
	return messages.Errorf(messages.CodeUnavailable,
		"%s was written by an older lastword (schema %d, this one knows %d): start the server there once", dir, version, len(migrations))
}

// ctx is that of the writer's statements: a context that can end would cost a goroutine for each.
var ctx = context.Background()

func (w *writer) connect() (err error) {
	if w.conn == nil {
		w.stmts = map[string]*sql.Stmt{}
		w.conn, err = w.db.Conn(ctx)
	}
	return err
}

// disconnect closes the connection. The next transaction uses a new one, which sees what is in the database.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	clear(w.heads)
	for _, stmt := range w.stmts { // SQLite keeps a connection open as long as it has one of these
		_ = stmt.Close()
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // has database/sql close it
	_ = w.conn.Close()
	w.conn = nil
}

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

func (w *writer) row(query string, args ...any) interface{ Scan(...any) error } {
	stmt, err := w.prepared(query)
	if err != nil {
		return failed{err}
	}
	return stmt.QueryRowContext(ctx, args...)
}

// failed is a row that could not be asked for.
type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }

// doubt is an error of a COMMIT: the transaction may have landed, or may land when the database is opened again.
type doubt struct{ err error }

func (d doubt) Error() string { return d.err.Error() }
func (d doubt) Unwrap() error { return d.err }

// transaction commits what do does, or nothing. The error is a [doubt] if that is not known.
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
		if inDoubt(err) {
			w.disconnect()
			return doubt{err}
		}
	}
	clear(w.heads)
	if _, rollback := w.exec("ROLLBACK"); rollback != nil {
		w.disconnect() // SQLite has rolled back on its own, or cannot
	}
	return err
}

// run commits what waits, until close. Errands wait until nothing else does, but not for ever.
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
				w.journal.copier.rouse()
			}
			if owed <= 0 {
				select {
				case e := <-w.errand:
					began = time.Now()
					w.oblige(e)
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
				w.oblige(e)
			}
		}
	}
}

// errandShare is how many times as long as an errand the appends after it may take, before there is another: what runs
// write must not grow faster than it is merged and removed.
const errandShare = 2

func (w *writer) oblige(e *errand) {
	e.done <- w.transaction(func() error {
		began := time.Now()
		err := e.do(w.exec)
		e.took = time.Since(began)
		return err
	})
}

// checkpoint copies what the write-ahead log holds to the database, while the writer goes on. The writer itself copies
// the rest, and begins the log anew, when the log is long.
func (w *writer) checkpoint(ctx context.Context) {
	_, _ = w.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the writer will meet the error
}

// checkpointEvery is after how many groups the log is copied.
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

// put adds a block to the queue, unless too much waits.
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
	w.rouse()
	return nil
}

func (w *writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// execute waits for its turn, and executes a transaction. It returns how long that took without the commit.
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

// close waits for what was accepted.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.rouse()
	<-w.over
	w.disconnect()
	return w.db.Close()
}
