package tree

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
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

// Symlink adds a symbolic link, whose target may be any text. Errors: those of [Tree.File].
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
