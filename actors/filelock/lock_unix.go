//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// Lock takes the file's lock, which ends with the file or with the process.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// Try fails where somebody has the lock.
func Try(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// TryShared fails where somebody has the lock alone. Others may share it.
func TryShared(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
