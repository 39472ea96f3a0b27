package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/messages"
)

// Journal is the journal of the node that owns a directory. It implements [journal.Journal], and is safe for concurrent
// use.
type Journal struct {
	store
	lock   *lock
	salt   [32]byte
	writer *writer
	merger *background
	copier *background
	leases journal.Leases
	notes  journal.Notes[journal.Note]
}

// databaseFile is the name of the database in the directory.
const databaseFile = "journal.db"

// Open opens the journal in the directory, which it creates if necessary. Close it after everything that uses it.
// Errors: a [*LockedError] if another process has opened it; invalid_input if the directory is a link, or others may
// write to it.
func Open(dir string, with ...Option) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explained(dir, err)
	}
	if err := cmp.Or(confined.Private(dir), plain(dir)); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, explained(dir, err)
	}
	j := &Journal{store: store{dir: dir}, lock: lock}
	if err := j.open(with); err != nil {
		return nil, errors.Join(explained(dir, err), j.Close())
	}
	return j, nil
}

// open opens the database and starts the background work. On an error the caller closes the journal.
func (j *Journal) open(with []Option) error {
	f, err := os.OpenFile(filepath.Join(j.dir, databaseFile), os.O_RDWR|os.O_CREATE, 0o600) // SQLite gives its other files the same mode
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if j.writer, err = openWriter(j, with); err != nil {
		return err
	}
	if j.db, err = openReading(j.dir, beside); err != nil {
		return err
	}
	if j.page, err = j.db.Prepare(readSQL); err != nil {
		return err
	}
	if err := j.offerAll(); err != nil {
		return err
	}
	j.merger = startBackground((&merger{journal: j}).mergeAll)
	j.copier = startBackground(j.writer.checkpoint)
	return nil
}

// offerAll makes every unfinished run claimable, because its former owner has ended.
func (j *Journal) offerAll() error {
	return each(ctx, j.db, "SELECT run FROM runs WHERE ended = 0", func(rows *sql.Rows) error {
		var run messages.RunID
		err := rows.Scan(&run)
		if err == nil {
			j.leases.Offer(run, "")
		}
		return err
	})
}

// Close waits for accepted appends, and releases the directory.
func (j *Journal) Close() error {
	var errs []error
	if j.merger != nil {
		j.merger.stop()
		j.copier.stop()
	}
	if j.db != nil {
		errs = append(errs, j.db.Close())
	}
	if j.writer != nil {
		errs = append(errs, j.writer.close())
	}
	return errors.Join(append(errs, j.lock.file.Close())...)
}

// Announce writes the URL of this journal's server into the lock file, where others find it.
func (j *Journal) Announce(url string) error { return j.lock.announce(url) }

// Salt implements [journal.Journal].
func (j *Journal) Salt() [32]byte { return j.salt }

// Claim implements [journal.Journal].
func (j *Journal) Claim(ctx context.Context, node string) (journal.Claim, error) {
	run, err := j.leases.Claim(ctx, node)
	if err != nil {
		return journal.Claim{}, err
	}
	return journal.Claim{Run: run, Every: journal.LeaseTerm}, nil
}

// Keep implements [journal.Journal].
func (j *Journal) Keep(_ context.Context, c journal.Claim, k journal.ClaimState) error {
	switch k {
	case journal.Held:
		j.leases.Hold(c.Run)
	case journal.Released:
		j.leases.Release(c.Run)
	case journal.Ended: // the writer knows that already
	}
	return nil
}

// Watch implements [journal.Reader].
func (j *Journal) Watch(ctx context.Context, self string, fn func(journal.Note)) error {
	return j.notes.Watch(ctx, self, fn)
}

// Send implements [journal.Journal].
func (j *Journal) Send(_ context.Context, c journal.Command) error {
	j.notes.Tell("", journal.Note{Run: c.Run, Command: &c})
	return nil
}

// connect returns a pool of connections to the database, which it distrusts. Each is opened at its first use.
func connect(dir string, query url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(filepath.Join(dir, databaseFile))
	if err != nil {
		return nil, err
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter of Windows
	}
	query.Add("_pragma", "busy_timeout(5000)")
	query.Add("_pragma", "trusted_schema(0)")
	query.Add("_defensive", "1")
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}
	c, err := sqlite.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	if err := distrust(dir, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// readers is the maximum number of concurrent reads.
const readers = 4

// Modes for reading a database: beside a writer, or, if there is none, in a directory that is not writable.
const (
	beside = "mode=ro"
	alone  = "mode=ro&immutable=1"
)

// openReading opens the database for reading.
func openReading(dir, how string) (*sql.DB, error) {
	if _, err := os.Stat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, messages.Errorf(messages.CodeNotFound, "there is no journal in %s", dir)
	}
	query, err := url.ParseQuery(how)
	if err = cmp.Or(err, plain(dir)); err != nil {
		return nil, err
	}
	db, err := connect(dir, query)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}

// background is a goroutine that does its work once at the start, and again after each call of signal.
type background struct {
	wake   chan struct{}
	cancel context.CancelFunc
	over   chan struct{}
}

// startBackground starts the goroutine. stop cancels the context of the work.
func startBackground(work func(context.Context)) *background {
	ctx, cancel := context.WithCancel(context.Background())
	a := &background{wake: make(chan struct{}, 1), cancel: cancel, over: make(chan struct{})}
	a.signal()
	go func() {
		defer close(a.over)
		for {
			select {
			case <-a.wake:
				work(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return a
}

// signal makes the work run again. It never blocks.
func (a *background) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// stop ends the goroutine, and waits for the current work.
func (a *background) stop() {
	a.cancel()
	<-a.over
}
