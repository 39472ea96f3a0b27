package tree

import (
	"fmt"
	"io"
	"io/fs"
)

// openFolder is an open folder.
type openFolder struct {
	*node
	listed bool
	rest   []fs.DirEntry
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) { return 0, failure("read", f.name, errFolder()) }

// ReadDir returns the next n entries, or all remaining ones if n is not positive.
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.listed {
		f.rest, f.listed = f.entries(), true
	}
	if n <= 0 {
		n = len(f.rest)
	} else if len(f.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.rest))
	part := f.rest[:n:n]
	f.rest = f.rest[n:]
	return part, nil
}

func errFolder() error { return fmt.Errorf("is a folder: %w", fs.ErrInvalid) }
