//go:build nosqlite

package store

import (
	"context"
	"errors"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

var errNoSQLite = errors.New("this lastword was built without SQLite; give --ephemeral, or --nats URL")

func openSQLite(string) (*Store, error) { return nil, errNoSQLite }

// Read fails: this build has no SQLite.
func Read(string) (actors.Reader, func() error, error) { return nil, nil, errNoSQLite }

// Forget fails: this build has no SQLite.
func Forget(context.Context, string, messages.RunID) error { return errNoSQLite }

// OwnerURL finds nobody: this build has no SQLite.
func OwnerURL(string) (url string, open bool) { return "", false }
