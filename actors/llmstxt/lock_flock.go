//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package llmstxt

import (
	"os"
	"syscall"
)

// lock takes the file's lock, which ends with the file or with the process.
func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// tryLock fails where somebody has the lock.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
