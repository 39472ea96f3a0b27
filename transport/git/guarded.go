package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
)

// wholeBytes is the most that go-git may be given of a file that it reads as a whole: HEAD, a ref, the configuration.
const wholeBytes = 16 << 20

// guarded refuses to open what would keep or fill the process: pipes, devices, and large files that are read whole. A
// repository that came in an archive may hold any of them.
type guarded struct{ billy.Filesystem }

func (g guarded) Open(name string) (billy.File, error) {
	if err := openable(g.Stat, name); err != nil {
		return nil, err
	}
	return g.Filesystem.Open(name)
}

func (g guarded) OpenFile(name string, flag int, mode os.FileMode) (billy.File, error) {
	if err := openable(g.Stat, name); err != nil {
		return nil, err
	}
	return g.Filesystem.OpenFile(name, flag, mode)
}

func (g guarded) Chroot(name string) (billy.Filesystem, error) {
	below, err := g.Filesystem.Chroot(name)
	return guarded{below}, err
}

// openable looks at the file before it is opened, which for a pipe would take until somebody writes into it.
func openable(stat func(string) (fs.FileInfo, error), name string) error {
	info, err := stat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() && !info.IsDir():
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	case info.Size() > wholeBytes && isWhole(name):
		return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("larger than %s", bytesText(wholeBytes))}
	}
	return nil
}

// isWhole tells what is read as a whole from what is read by lines or in parts.
func isWhole(name string) bool {
	name = filepath.ToSlash(filepath.Clean(name))
	return !strings.HasPrefix(name, "objects/") && name != "packed-refs"
}
