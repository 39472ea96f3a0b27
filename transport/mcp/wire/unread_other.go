//go:build !linux

package wire

import "os"

// unread cannot be told here.
func unread(*os.File) (bytes int, ok bool) { return 0, false }
