//go:build linux || darwin || freebsd

package doctor

import "syscall"

// freeSpace returns how many bytes the user can still write.
func freeSpace(folder string) (bytes int64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
