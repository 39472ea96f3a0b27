package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// Copy writes what the journal in the directory holds now, of any schema, into another directory that has none, also
// beside a live server. The new file has no holes and no log. Where Copy fails, it may leave a part of the file.
func Copy(ctx context.Context, dir, to string) error {
	file := filepath.Join(to, databaseFile)
	return explained(dir, either(dir, func(how string) error {
		db, err := openReading(dir, how)
		if err != nil {
			return err
		}
		if err = os.WriteFile(file, nil, 0o600); err == nil { // SQLite fills an empty file
			_, err = db.ExecContext(ctx, "VACUUM INTO ?", file)
		}
		switch primary, _ := codeOf(err); {
		case err != nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		case primary == lib.SQLITE_FULL:
			err = explained(to, err)
		}
		return errors.Join(err, db.Close())
	}))
}

// Owns reports whether the file of a directory, by its name, belongs to the journal: Copy writes what is in it.
func Owns(name string) bool { return name == lockFile || strings.HasPrefix(name, databaseFile) }

// either opens the directory beside a writer or, where SQLite would have to write and cannot, as one that has none.
func either(dir string, open func(how string) error) error {
	err := open(beside)
	if primary, _ := codeOf(err); primary == lib.SQLITE_READONLY || primary == lib.SQLITE_CANTOPEN {
		if _, live := os.Stat(filepath.Join(dir, databaseFile+"-wal")); errors.Is(live, fs.ErrNotExist) {
			return open(alone)
		}
	}
	return err
}
