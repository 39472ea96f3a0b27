package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
)

// Reader reads a journal to which another process may be writing. It implements [journal.Reader].
type Reader struct {
	store
	how     string // the mode in which the database was opened
	version int    // of its schema
}

// OpenReader opens the journal in the directory for reading, beside a live server or after that has stopped. It needs
// no permission to write. If it has none and no server is running, it does not see the writes of a server that starts
// later; open a new Reader then. Close it after use.
func OpenReader(dir string) (*Reader, error) {
	r, err := openEither(dir)
	return r, explained(dir, err)
}

// openEither opens the database beside a writer or alone, see either, and refuses another schema.
func openEither(dir string) (r *Reader, err error) {
	err = either(dir, func(how string) error {
		db, err := openReading(dir, how)
		if err != nil {
			return err
		}
		var version int
		if err = db.QueryRow("PRAGMA user_version").Scan(&version); err == nil && (version < readable || version > len(migrations)) {
			err = wrongSchema(dir, version)
		}
		var page *sql.Stmt
		if err == nil {
			page, err = db.Prepare(readSQL)
		}
		if err != nil {
			return errors.Join(err, db.Close())
		}
		r = &Reader{store{dir, db, page, version < spending}, how, version}
		return nil
	})
	return r, err
}

// Close closes the Reader.
func (r *Reader) Close() error { return r.db.Close() }

// pollEvery is how often a Watch checks whether another process has written.
const pollEvery = 50 * time.Millisecond

// Watch implements [journal.Reader]. Its notes say only that any run may have changed; it never sees commands.
func (r *Reader) Watch(ctx context.Context, _ string, fn func(journal.Note)) error {
	db, err := openReading(r.dir, r.how) // a Watch must not take one of the connections for reads
	if err != nil {
		return explained(r.dir, err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return explained(r.dir, err)
	}
	defer conn.Close()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for last := int64(-1); ; {
		var now int64 // changes when another connection commits
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return explained(r.dir, err)
		}
		if now != last {
			last = now
			fn(journal.Note{})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
