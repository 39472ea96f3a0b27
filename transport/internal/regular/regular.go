package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Flags opens any kind of file for reading without blocking.
const Flags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens a local file. If it is not regular, the error wraps [fs.ErrInvalid].
func Open(name string) (*os.File, fs.FileInfo, error) {
	return checked(os.OpenFile(name, Flags, 0))
}

// OpenIn is Open for a name below a root.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return checked(root.OpenFile(name, Flags, 0))
}

// checked closes f if it is not a regular file.
func checked(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: errIrregular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// errIrregular means that the name leads to a folder, a pipe or a device.
var errIrregular = fmt.Errorf("not a regular file: %w", fs.ErrInvalid)
