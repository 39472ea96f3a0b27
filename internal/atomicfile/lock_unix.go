//go:build unix

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// LockFile locks the file, and waits for that if needed. The lock ends when the file is closed or the process ends.
func LockFile(f *os.File) error { return flock(f, unix.LOCK_EX) }

// TryLock is LockFile that fails instead of waiting.
func TryLock(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// TryLockShared is TryLock for a lock that others may share.
func TryLockShared(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
