//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock locks the file, and waits for that if needed. The lock ends when the file is closed or the process ends.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// Try is Lock that fails instead of waiting.
func Try(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// TryShared is Try for a lock that others may share.
func TryShared(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
