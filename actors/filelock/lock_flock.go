//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"os"
	"syscall"
)

// Lock takes the file's lock, which ends with the file or with the process.
func Lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// Try fails where somebody has the lock.
func Try(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
