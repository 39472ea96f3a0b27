package sqlite

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte far behind the content, because nobody can read what is locked.
func tryLock(f *os.File, exclusive bool) bool {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at) == nil
}
