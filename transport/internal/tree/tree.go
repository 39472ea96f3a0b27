package tree

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/stable"
)

// Tree is a read-only file system in memory. It implements [fs.ReadFileFS] and [fs.ReadLinkFS]. The zero Tree is empty.
type Tree struct {
	top   *node
	index map[place]*node
}

// place is the key of a node: its folder and name. All folders share one index, because a map per folder would need
// more memory than its entries.
type place struct {
	folder *node
	name   string
}

// node is a folder, file or link. It is also its own [fs.DirEntry] and [fs.FileInfo].
type node struct {
	name        string
	size        int64
	mode        fs.FileMode
	open        func() ([]byte, error) // returns the content of a file, or the target of a link
	first, next *node                  // the entries of a folder, in random order
}

const (
	folderMode = fs.ModeDir | 0o555
	fileMode   = fs.FileMode(0o444)
	linkMode   = fs.ModeSymlink | 0o777
)

// File adds a file of size bytes. Each read calls open, possibly concurrently; readers do not change the returned
// bytes. The error wraps [fs.ErrInvalid] if path is not valid, and [fs.ErrExist] if the name is taken or a file is in
// the place of a folder.
func (t *Tree) File(path string, size int64, open func() ([]byte, error)) error {
	return t.add(path, &node{size: size, mode: fileMode, open: open})
}

// Symlink adds a symbolic link, whose target may be any text. Errors: as for [Tree.File].
func (t *Tree) Symlink(path, target string) error {
	read := func() ([]byte, error) { return []byte(target), nil }
	return t.add(path, &node{size: int64(len(target)), mode: linkMode, open: read})
}

// add adds a node and the folders above it. A path must not exist already, also not as a folder.
func (t *Tree) add(path string, n *node) error {
	if path == "." || !utf8.ValidString(path) || !fs.ValidPath(path) {
		return failure("add", path, fs.ErrInvalid)
	}
	if t.index == nil {
		t.index, t.top = map[place]*node{}, &node{name: ".", mode: folderMode}
	}
	folder := t.top
	name, below, deeper := strings.Cut(path, "/")
	for at := t.index[place{folder, name}]; at != nil; at = t.index[place{folder, name}] {
		switch {
		case !deeper:
			return failure("add", path, fs.ErrExist)
		case !at.IsDir():
			return failure("add", path, fmt.Errorf("%s is not a folder: %w", at.name, fs.ErrExist))
		}
		folder = at
		name, below, deeper = strings.Cut(below, "/")
	}
	for deeper {
		above := folder
		folder = &node{mode: folderMode}
		t.put(above, name, folder)
		name, below, deeper = strings.Cut(below, "/")
	}
	t.put(folder, name, n)
	return nil
}

// put adds a node. It copies the name, so that the path's memory can be freed.
func (t *Tree) put(folder *node, name string, n *node) {
	n.name = strings.Clone(name)
	n.next, folder.first = folder.first, n
	t.index[place{folder, n.name}] = n
}

// find returns the node of a path. It never follows links.
func (t *Tree) find(op, path string) (*node, error) {
	if !fs.ValidPath(path) {
		return nil, failure(op, path, fs.ErrInvalid)
	}
	n := t.top
	if n == nil {
		n = &node{name: ".", mode: folderMode}
	}
	if path == "." {
		return n, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if n = t.index[place{n, name}]; n == nil {
			return nil, failure(op, path, fs.ErrNotExist)
		}
	}
	return n, nil
}

func failure(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

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
		stable.Sort(f.rest, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
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
