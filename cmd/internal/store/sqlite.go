//go:build !nosqlite

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

func openSQLite(dir string) (*Store, error) {
	j, err := sqlite.Open(dir)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("the runs cannot be kept in %s: %w; give --state FOLDER, or --ephemeral", dir, at)
	}
	if err != nil {
		return nil, err
	}
	return &Store{Journal: j, announce: j.Announce, close: j.Close}, nil
}

// read opens the journal in the folder for reading, beside its owner or after it has stopped.
func read(dir string) (journal.Reader, func() error, error) {
	r, err := sqlite.OpenReader(dir)
	if err != nil {
		return nil, nil, err
	}
	return r, r.Close, nil
}

// forget removes the log of an ended run from the folder, which no other process may have open.
func forget(ctx context.Context, dir string, run messages.RunID) error {
	j, err := sqlite.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(j.Forget(ctx, run), j.Close())
}

// Owner is the process that has opened a folder, and Report is what Check has found in one.
type (
	Owner  = sqlite.Owner
	Report = sqlite.Report
)

// FindOwner returns the process that has opened the folder, or false if none has.
func FindOwner(dir string) (Owner, bool) { return sqlite.FindOwner(dir) }

// Check reads the whole journal in the folder, beside its owner too.
func Check(ctx context.Context, dir string) (Report, error) { return sqlite.Check(ctx, dir) }

// CheckDatabase asks the database in the folder whether it is sound, beside its owner too. It does not read the logs.
func CheckDatabase(ctx context.Context, dir string) (Report, error) {
	return sqlite.CheckDatabase(ctx, dir)
}
