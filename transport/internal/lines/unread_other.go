//go:build !linux

package lines

import "os"

// unread is not known on this system.
func unread(*os.File) (bytes int, ok bool) { return 0, false }
