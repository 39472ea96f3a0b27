//go:build !linux && !darwin

package doctor

// freeSpace cannot be told.
func freeSpace(string) (bytes int64, ok bool) { return 0, false }
