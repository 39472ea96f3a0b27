package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// codeOf returns SQLite's primary and extended result code, or zeros.
func codeOf(err error) (primary, extended int) {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff, e.Code()
	}
	return 0, 0
}

// explained says what to do about an error of SQLite, as a [messages.Error].
func explained(dir string, err error) error {
	primary, extended := codeOf(err)
	says := func(retryable bool, format string, args ...any) error {
		e := messages.Errorf(messages.CodeUnavailable, format, args...)
		e.Retryable = retryable
		return e
	}
	switch {
	case primary == lib.SQLITE_FULL, extended == lib.SQLITE_IOERR_SHMSIZE, errors.Is(err, syscall.ENOSPC):
		return says(true, "the disk of %s is full: free some space", dir)
	case primary == lib.SQLITE_READONLY, primary == lib.SQLITE_PERM, errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return says(false, "%s cannot be written: let this user write the directory and its files", dir)
	case primary == lib.SQLITE_CANTOPEN:
		return says(false, "%s/%s cannot be opened: let this user read and write the directory (%v)", dir, databaseFile, err)
	case primary == lib.SQLITE_CORRUPT, primary == lib.SQLITE_NOTADB:
		return says(false, "%s/%s is damaged: restore a backup, or choose another directory (%v)", dir, databaseFile, err)
	case primary == lib.SQLITE_IOERR:
		return says(true, "the disk of %s failed: look at the system's log (%v)", dir, err)
	case primary != 0:
		return says(true, "%s/%s: %v", dir, databaseFile, err)
	}
	return err
}

// failsAll reports whether the error is of the disk or the machine, so that other blocks would meet it too.
func failsAll(err error) bool {
	switch primary, _ := codeOf(err); primary {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_CORRUPT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
		return false
	}
	return true
}

// inDoubt reports whether a transaction whose COMMIT failed may have landed: its frames may be in the write-ahead log.
// A full disk took no whole frame of the commit.
func inDoubt(err error) bool {
	primary, _ := codeOf(err)
	return primary != lib.SQLITE_FULL && primary != lib.SQLITE_READONLY
}

// refused wraps why a block did not land.
func refused(why error) error { return fmt.Errorf("%w: %w", actors.ErrRefused, why) }

func errNotFound(run messages.RunID) error {
	return messages.Errorf(messages.CodeNotFound, "there is no run %s", run)
}
