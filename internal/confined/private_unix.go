//go:build unix

package confined

import (
	"io/fs"
	"os"
	"syscall"
)

// isOthers reports whether another user may write to the folder. Folders of root are trusted.
func isOthers(info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().Perm()&0o002 != 0 || ok && of.Uid != 0 && int(of.Uid) != os.Geteuid()
}
