//go:build !linux && !darwin && !freebsd && !windows

package doctor

// freeSpace is not available on this system.
func freeSpace(string) (bytes int64, ok bool) { return 0, false }
