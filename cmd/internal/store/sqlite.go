//go:build !nosqlite

package store

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// openSQLite opens the journal in a folder, and makes the folder if it is missing.
func openSQLite(env environment.Variables, dir string) (*Store, error) {
	j, err := openSigned(env, dir)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("the runs cannot be kept in %s: %w", dir, pathErr)
		if !settings.Inside(pathErr.Path, dir) && !settings.Inside(dir, pathErr.Path) { // it is of the user's key
			return nil, fmt.Errorf("%w; --trust names another folder for the keys", err)
		}
		return nil, fmt.Errorf("%w; --state names another folder", err)
	}
	if messages.CodeOf(err) == messages.CauseJournalUnavailable {
		err = fmt.Errorf("%w; --state names another folder", err)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{Journal: j, Rows: j.Rows, SetRows: j.SetRows, announce: j.Announce, close: j.Close}
	s.GetSession = func(ctx context.Context, name string) ([]byte, uint64, error) {
		row, err := j.Row(ctx, sessions, name)
		return row, 0, err
	}
	var swept atomic.Int64 // in nanoseconds
	s.SetSession = func(ctx context.Context, name string, value []byte, _ uint64) error {
		err := j.SetRows(ctx, sessions, map[string]json.RawMessage{name: value})
		now, last := time.Now(), swept.Load()
		if err == nil && now.UnixNano()-last > int64(time.Hour) && swept.CompareAndSwap(last, now.UnixNano()) {
			err = j.DropRows(ctx, sessions, now.Add(-sessionLife))
		}
		return err
	}
	return s, nil
}

// sessions is the part of the rows about sessions, and sessionLife the time after which they are dropped.
const (
	sessions    = "sessions"
	sessionLife = seal.Life + seal.Renewal
)

// openSigned opens the journal in a folder. The user's key signs its ledger, and its public half is in the folder's list.
func openSigned(env environment.Variables, dir string) (*sqlite.Journal, error) {
	read, err := signing(env, dir)
	if err != nil {
		return nil, err
	}
	if read == nil {
		return sqlite.Open(dir)
	}
	key, err := read()
	if err != nil {
		return nil, err
	}
	j, err := sqlite.Open(dir, sqlite.SignedBy(read))
	if err == nil {
		_, err = Publish(dir, key.Public().(ed25519.PublicKey))
	}
	if err != nil && j != nil {
		err = errors.Join(err, j.Close())
	}
	return j, err
}

// read opens the journal in the folder for reading, beside its owner or after that has stopped.
func read(dir string) (journal.Reader, func() error, error) {
	r, err := sqlite.OpenReader(dir)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Close, nil
}

// forget removes the log of an ended run from the folder. No other process may have opened the folder.
func forget(ctx context.Context, env environment.Variables, dir string, run messages.RunID) error {
	j, err := openSigned(env, dir)
	if err != nil {
		return err
	}
	return errors.Join(j.DeleteLog(ctx, run), j.Close())
}

// vacuum rewrites the database in the folder. No other process may have opened the folder.
func vacuum(ctx context.Context, env environment.Variables, dir string) error {
	j, err := openSigned(env, dir)
	if err != nil {
		return err
	}
	return errors.Join(j.Vacuum(ctx), j.Close())
}

// Owner is the process that has opened a folder.
type Owner = sqlite.Owner

// FindOwner returns the process that has opened the folder. ok is false if there is none.
func FindOwner(dir string) (Owner, bool) { return sqlite.FindOwner(dir) }

// Check verifies the logs of the runs in the folder, even beside its owner. Without runs it checks the whole journal.
func Check(ctx context.Context, dir string, runs ...messages.RunID) (journal.Report, error) {
	return sqlite.Check(ctx, dir, runs...)
}

// CheckDatabase checks the database in the folder, even beside its owner. It does not check logs.
func CheckDatabase(ctx context.Context, dir string) (journal.Report, error) {
	return sqlite.CheckDatabase(ctx, dir)
}

// Copy writes what the journal in the folder holds now into another folder, beside its owner too.
func Copy(ctx context.Context, dir, to string) error { return sqlite.Copy(ctx, dir, to) }

// Owns reports whether the file of a folder, by its name, belongs to the journal: Copy writes what is in it.
func Owns(name string) bool { return sqlite.Owns(name) }
