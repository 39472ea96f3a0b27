//go:build !unix

package confined

import "io/fs"

// isOthers returns false, because modes do not say here who may write.
func isOthers(fs.FileInfo) bool { return false }
