package sqlite

import (
	"context"
	"time"

	"github.com/seed889630bf/lastword/actors"
)

// Reader reads a journal that another process may write to. It implements [actors.Reader].
type Reader struct{ store }

// OpenReader opens the journal in the directory for reading. Call Close when nothing uses the Reader any more.
func OpenReader(dir string) (*Reader, error) {
	db, err := openReading(dir)
	if err != nil {
		return nil, err
	}
	var version int
	if err = db.QueryRow("PRAGMA user_version").Scan(&version); err == nil && version != len(migrations) {
		err = newerSchema(dir, version)
	}
	if err != nil {
		_ = db.Close()
		return nil, explained(dir, err)
	}
	return &Reader{store{dir: dir, db: db}}, nil
}

// Close closes the Reader.
func (r *Reader) Close() error { return r.db.Close() }

// pollEvery is how often a Watch looks whether another process has written.
const pollEvery = 50 * time.Millisecond

// Watch implements [actors.Reader]. Its notes are of every run, and never commands.
func (r *Reader) Watch(ctx context.Context, _ string, fn func(actors.Note)) error {
	db, err := openReading(r.dir) // reads must not wait until a Watch ends
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
		var now int64 // changes when another connection has committed
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return explained(r.dir, err)
		}
		if now != last {
			last = now
			fn(actors.Note{})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
