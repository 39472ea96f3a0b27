package filelock

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the file's lock, which ends with the file or with the process.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// Try fails where somebody has the lock.
func Try(f *os.File) error {
	return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// TryShared fails where somebody has the lock alone. Others may share it.
func TryShared(f *os.File) error { return lock(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// lock locks a byte far behind the content, because nobody can read what is locked.
func lock(f *os.File, how uint32) error {
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
}
