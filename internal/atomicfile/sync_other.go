//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

// SyncFolder makes the names in the folder durable, as File.Sync does for a file's content.
func SyncFolder(dir *os.Root, name string) error {
	d, err := dir.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
