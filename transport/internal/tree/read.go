package tree

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Open opens a file or folder. A file's content is loaded at the first Read. For a link the error wraps
// [fs.ErrInvalid].
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.follow("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &openFolder{node: n}, nil
	}
	return &openFile{node: n, path: name}, nil
}

// ReadFile returns the content of a file in a new slice.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, err := t.follow("read", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return nil, failure("read", name, errFolder())
	}
	data, err := n.open()
	if err != nil {
		return nil, failure("read", name, err)
	}
	return append(make([]byte, 0, len(data)), data...), nil
}

// ReadDir lists a folder, sorted by name.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.follow("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, failure("readdir", name, fmt.Errorf("not a folder: %w", fs.ErrInvalid))
	}
	return n.entries(), nil
}

// Stat describes a file or folder. It refuses a link, like [Tree.Open].
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.follow("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
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

// follow returns the node of a path that is not a link.
func (t *Tree) follow(op, name string) (*node, error) {
	n, err := t.find(op, name)
	if err == nil && n.mode == linkMode {
		return nil, failure(op, name, fmt.Errorf("symbolic links are not followed: %w", fs.ErrInvalid))
	}
	return n, err
}

// entries returns the folder's entries by name. Package fs demands that order.
func (n *node) entries() []fs.DirEntry {
	count := 0
	for e := n.first; e != nil; e = e.next {
		count++
	}
	all := make([]fs.DirEntry, 0, count)
	for e := n.first; e != nil; e = e.next {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all
}

func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Size() int64                { return n.size }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }
func (n *node) String() string             { return fs.FormatDirEntry(n) }

// openFile is an open file.
type openFile struct {
	*node
	path   string
	reader *bytes.Reader // nil before the first Read
	closed bool
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }

// Read loads the content at its first call. Files that nobody reads cost nothing.
func (f *openFile) Read(p []byte) (int, error) {
	if f.closed {
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

func (f *openFile) Close() error {
	f.closed, f.reader = true, nil
	return nil
}
