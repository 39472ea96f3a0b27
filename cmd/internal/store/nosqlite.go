//go:build nosqlite

package store

import (
	"context"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages"
)

// errNoSQLite is returned where SQLite would keep the runs.
var errNoSQLite = errors.New("this lastword was built without SQLite; give --ephemeral, or --nats URL")

func openSQLite(environment.Variables, string) (*Store, error) { return nil, errNoSQLite }

// read fails, because this build has no SQLite.
func read(string) (journal.Reader, func() error, error) { return nil, nil, errNoSQLite }

// forget fails, because this build has no SQLite.
func forget(context.Context, environment.Variables, string, messages.RunID) error { return errNoSQLite }

// vacuum fails, because this build has no SQLite.
func vacuum(context.Context, environment.Variables, string) error { return errNoSQLite }

// Owner is the process that has opened a folder.
type Owner struct {
	PID       int
	Host, URL string
	Since     time.Time
}

// FindOwner returns false, because this build has no SQLite.
func FindOwner(string) (Owner, bool) { return Owner{}, false }

// Check fails, because this build has no SQLite.
func Check(context.Context, string, ...messages.RunID) (journal.Report, error) {
	return journal.Report{}, errNoSQLite
}

// CheckDatabase fails, because this build has no SQLite.
func CheckDatabase(context.Context, string) (journal.Report, error) {
	return journal.Report{}, errNoSQLite
}

// Copy fails: this build has no SQLite.
func Copy(context.Context, string, string) error { return errNoSQLite }

// Owns finds nothing: this build has no SQLite.
func Owns(string) bool { return false }
