package atomicfile

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// LockFile locks the file, and waits for that if needed. The lock ends when the file is closed or the process ends.
func LockFile(f *os.File) error { return lockByte(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// TryLock is LockFile that fails instead of waiting.
func TryLock(f *os.File) error {
	return lockByte(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// TryLockShared is TryLock for a lock that others may share.
func TryLockShared(f *os.File) error { return lockByte(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// lockByte locks a byte far beyond the content, because locked bytes cannot be read.
func lockByte(f *os.File, how uint32) error {
	at := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
}
