package filelock

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// Lock locks the file, and waits for that if needed. The lock ends when the file is closed or the process ends.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// Try is Lock that fails instead of waiting.
func Try(f *os.File) error {
	return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// TryShared is Try for a lock that others may share.
func TryShared(f *os.File) error { return lock(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// lock locks a byte far beyond the content, because locked bytes cannot be read.
func lock(f *os.File, how uint32) error {
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
}
