package tokenfile

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to do: a replaced file has the owner that its folder says.
func keepOwner(*os.Root, string, fs.FileInfo) error { return nil }
