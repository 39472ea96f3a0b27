//go:build unix

package confined

import (
	"io/fs"
	"os"
	"syscall"
)

// isOthers: root's folders are nobody else's.
func isOthers(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o002 != 0 || ok && of.Uid != 0 && int(of.Uid) != os.Geteuid()
}
