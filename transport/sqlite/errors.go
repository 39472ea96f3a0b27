package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// codeOf returns SQLite's primary and extended result codes, or zeros.
func codeOf(err error) (primary, extended int) {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff, e.Code()
	}
	return 0, 0
}

// explained turns an error of SQLite into a [messages.Error] that says what to do. Its code is journal_unavailable if
// other runs would get the error too, else unavailable.
func explained(dir string, err error) error {
	primary, extended := codeOf(err)
	says := func(code messages.Code, format string, args ...any) error {
		e := messages.Errorf(code, format, args...)
		e.Retryable = primary == lib.SQLITE_FULL || primary == lib.SQLITE_IOERR || primary == lib.SQLITE_BUSY
		return e
	}
	const store = messages.CauseJournalUnavailable
	switch {
	case primary == lib.SQLITE_FULL, extended == lib.SQLITE_IOERR_SHMSIZE, errors.Is(err, syscall.ENOSPC):
		return says(store, "the disk of %s is full: free some space", dir)
	case primary == lib.SQLITE_READONLY, primary == lib.SQLITE_PERM, errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return says(store, "%s cannot be written: let this user write the directory and its files", dir)
	case primary == lib.SQLITE_CANTOPEN:
		return says(store, "%s/%s cannot be opened: let this user read and write the directory (%v)", dir, databaseFile, err)
	case primary == lib.SQLITE_CORRUPT, primary == lib.SQLITE_NOTADB:
		return says(messages.CodeUnavailable, "%s/%s is damaged: restore a backup, or choose another directory (%v)", dir, databaseFile, err)
	case primary == lib.SQLITE_IOERR:
		return says(store, "the disk of %s failed: look at the system's log (%v)", dir, err)
	case primary == lib.SQLITE_BUSY:
		return says(store, "another program has locked %s/%s: stop it (%v)", dir, databaseFile, err)
	case primary == lib.SQLITE_CONSTRAINT && strings.Contains(err.Error(), openedElsewhere):
		return says(store, "%s in %s: stop one of the two", openedElsewhere, dir)
	case primary != 0:
		return says(messages.CodeUnavailable, "%s/%s: %v", dir, databaseFile, err)
	}
	return err
}

// openedElsewhere is the schema's error for a process that has lost the directory to another.
const openedElsewhere = "another process has opened the journal"

// ofBlock are the codes of errors that one block causes. With all others the disk or the machine failed, so that other
// blocks would fail too.
var ofBlock = []int{lib.SQLITE_CONSTRAINT, lib.SQLITE_CORRUPT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH}

// refused wraps the reason why a block was not stored, unstorable the reason why it can never be stored.
func refused(why error) error    { return fmt.Errorf("%w: %w", journal.ErrRefused, why) }
func unstorable(why error) error { return fmt.Errorf("%w: %w", journal.ErrUnstorable, why) }

// declined returns the reason why a block was not stored, after its transaction has failed. Damage affects only an
// existing run's own log. If a new run cannot begin, no other can either.
func declined(dir string, err error, begins bool) error {
	why := explained(dir, err)
	switch primary, _ := codeOf(err); primary {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		if e, ok := errors.AsType[*messages.Error](why); ok && begins {
			e.Code = messages.CauseJournalUnavailable
		}
		return unstorable(why)
	case lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
		return unstorable(why)
	case lib.SQLITE_CONSTRAINT:
		if !strings.Contains(err.Error(), openedElsewhere) {
			return unstorable(why)
		}
	}
	return refused(why)
}

func errDamaged(run messages.RunID, why error) error {
	return messages.Errorf(messages.CodeUnavailable, "the log of run %s is damaged: %v; run lastword verify %s", run, why, run)
}
