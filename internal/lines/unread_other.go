//go:build !linux

package lines

import "os"

// unread is not available on this system.
func unread(*os.File) (bytes int, ok bool) { return 0, false }
