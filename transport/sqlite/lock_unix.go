//go:build unix

package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File, exclusive bool) bool {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB) == nil
}
