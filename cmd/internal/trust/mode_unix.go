//go:build unix

package trust

import "io/fs"

// writable reports whether others than the owner may write the folder.
func writable(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
