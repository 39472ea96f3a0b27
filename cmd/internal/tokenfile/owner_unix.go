//go:build unix

package tokenfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives the file the owner that it had, if root has replaced it: a server that is not root must still read it.
func keepOwner(folder *os.Root, name string, old fs.FileInfo) error {
	of, ok := old.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return folder.Chown(name, int(of.Uid), int(of.Gid))
}
