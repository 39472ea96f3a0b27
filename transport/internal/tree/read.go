package tree

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

// Open opens a file or folder. A file's content is loaded at the first Read. For a link the error wraps
// [fs.ErrInvalid].
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.mode == linkMode {
		return nil, failure("open", name, fmt.Errorf("symbolic links are not followed: %w", fs.ErrInvalid))
	}
	return &opened{node: n, path: name}, nil
}

// ReadFile returns the content of a file in a new slice. Package fs would first make room for the size that a stranger
// declared.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(f)
	return text.Bytes(), err
}

// Lstat describes a file, folder or link.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) {
	n, err := t.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// ReadLink returns the target of a link, which may be any text.
func (t *Tree) ReadLink(name string) (string, error) {
	n, err := t.find("readlink", name)
	if err != nil {
		return "", err
	}
	if n.mode != linkMode {
		return "", failure("readlink", name, fmt.Errorf("not a link: %w", fs.ErrInvalid))
	}
	target, err := n.open()
	return string(target), err
}

func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Size() int64                { return n.size }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }

// opened is an open file or folder.
type opened struct {
	*node
	path   string
	reader *bytes.Reader // of a file; nil before the first Read
	rest   []fs.DirEntry // of a folder: what ReadDir has not returned yet
	listed bool
	closed bool
}

func (f *opened) Stat() (fs.FileInfo, error) { return f.node, nil }

func (f *opened) Close() error {
	f.closed, f.reader = true, nil
	return nil
}

// Read loads the content at its first call. Files that nobody reads cost nothing.
func (f *opened) Read(p []byte) (int, error) {
	switch {
	case f.IsDir():
		return 0, failure("read", f.path, fmt.Errorf("is a folder: %w", fs.ErrInvalid))
	case f.closed:
		return 0, failure("read", f.path, fs.ErrClosed)
	}
	if f.reader == nil {
		data, err := f.open()
		if err != nil {
			return 0, failure("read", f.path, err)
		}
		f.reader = bytes.NewReader(data)
	}
	return f.reader.Read(p)
}

// ReadDir returns the next n entries by name, or all remaining ones if n is not positive.
func (f *opened) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.IsDir() {
		return nil, failure("readdir", f.path, fmt.Errorf("not a folder: %w", fs.ErrInvalid))
	}
	if !f.listed {
		f.listed = true
		for e := f.first; e != nil; e = e.next {
			f.rest = append(f.rest, e)
		}
		slices.SortFunc(f.rest, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
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
