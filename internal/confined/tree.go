package confined

import (
	"fmt"
	"io/fs"
	"os"
)

// Tree is an [fs.FS] of a folder that reads by the rules of [File]: it follows no link, and does not wait for a pipe.
type Tree struct {
	rootFS
	Root *os.Root
}

// rootFS is the part of [os.Root.FS] without the methods that could open a pipe.
type rootFS interface {
	fs.StatFS
	fs.ReadLinkFS
}

// TreeOf returns the files of a root. It is usable until the root is closed.
func TreeOf(root *os.Root) Tree { return Tree{root.FS().(rootFS), root} }

// Open opens a file or a folder for reading.
func (t Tree) Open(name string) (fs.File, error) {
	f, err := File(t.Root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err // a nil *os.File is not a nil fs.File
	}
	return f, nil
}

// Regular opens a regular file, and returns its info. It does not wait for a pipe if files are a [Tree] or [Files].
func Regular(files fs.FS, name string) (fs.File, fs.FileInfo, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = Irregular(name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Irregular is the error for what is neither a file nor a folder, or not the one that is needed.
func Irregular(name string) error {
	return fmt.Errorf("%s is not a regular file: %w", name, fs.ErrInvalid)
}
