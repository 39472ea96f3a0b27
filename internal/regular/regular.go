package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Flags opens any kind of file for reading without blocking.
const Flags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens a local file. If it is not regular, the error wraps [fs.ErrInvalid].
func Open(name string) (*os.File, fs.FileInfo, error) { return checked(os.OpenFile(name, Flags, 0)) }

// OpenIn is Open for a name below a root.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return checked(root.OpenFile(name, Flags, 0))
}

// The sizes of files that people write, and of those that programs write.
const (
	Small = 1 << 20
	Large = 256 << 20
)

// ErrTooLarge means that a file holds more than its reader takes.
var ErrTooLarge = errors.New("is larger than the limit")

// Read reads a local file. If it holds more than most bytes, the error is an [ErrTooLarge].
func Read(name string, most int64) ([]byte, error) {
	f, _, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s %w of %d bytes", name, ErrTooLarge, most)
	}
	return text, err
}

// Root opens a folder. Unlike [os.OpenRoot] it does not wait for a pipe.
func Root(name string) (*os.Root, error) {
	return os.OpenRoot(filepath.Clean(name) + string(filepath.Separator)) // the separator requires a folder
}

// checked closes f if it is not a regular file.
func checked(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: irregular{}}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// irregular means that the name leads to a folder, a pipe or a device.
type irregular struct{}

func (irregular) Error() string {
	return "it is not a regular file; save what a pipe or a device gives in a file"
}

func (irregular) Is(target error) bool { return target == fs.ErrInvalid }
