package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed889630bf/lastword/transport/internal/regular"
)

// maxEdited bounds the files whose contents are compared.
const maxEdited = 16 << 20

// Edited gives those of the files, named from the top of the work tree, that
// hold something else there than in the checked-out commit. Not judged are files
// that only one of the two has, symbolic links, files that Git LFS keeps, and
// what is larger than 16 MiB.
func (c *Checkout) Edited(ctx context.Context, paths []string) (edited []string, err error) {
	if _, err := c.config(); err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(c.Top + "/")
	if err != nil {
		return nil, invalid("%s cannot be opened: %s", c.Top, line(err.Error()))
	}
	defer top.Close()
	files := &committed{reader: c.reader(), trees: map[plumbing.Hash]*object.Tree{}}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		blob, err := files.find(plumbing.NewHash(c.Head), path)
		switch {
		case errors.Is(err, plumbing.ErrObjectNotFound):
			continue
		case err != nil:
			return nil, invalid("the repository of %s cannot be read: %s", c.Top, line(err.Error()))
		}
		if files.differs(top, path, blob) {
			edited = append(edited, path)
		}
	}
	return edited, nil
}

// committed finds files in a commit; trees are read once.
type committed struct {
	reader *lister
	trees  map[plumbing.Hash]*object.Tree
}

// find gives the file's blob, or ErrObjectNotFound.
func (f *committed) find(commit plumbing.Hash, path string) (plumbing.Hash, error) {
	at, err := f.top(commit)
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			return at, err
		}
		at, err = f.step(at, name)
	}
	return at, err
}

// top keeps the commit's tree beside those of folders.
func (f *committed) top(commit plumbing.Hash) (plumbing.Hash, error) {
	if t := f.trees[commit]; t != nil {
		return t.Hash, nil
	}
	var c object.Commit
	err := f.reader.decode(plumbing.CommitObject, commit, &c)
	f.trees[commit] = &object.Tree{Hash: c.TreeHash}
	return c.TreeHash, err
}

func (f *committed) step(folder plumbing.Hash, name string) (plumbing.Hash, error) {
	t := f.trees[folder]
	if t == nil {
		t = new(object.Tree)
		if err := f.reader.decode(plumbing.TreeObject, folder, t); err != nil {
			return folder, err
		}
		f.trees[folder] = t
	}
	for _, e := range t.Entries {
		if e.Name == name && (kindOf(e) == leaf || kindOf(e) == branch) {
			return e.Hash, nil
		}
	}
	return folder, plumbing.ErrObjectNotFound
}

// differs compares by the hash that git would give the file. Line ends are often
// others in a work tree, and so is everything where Git LFS has its pointers.
func (f *committed) differs(top *os.Root, path string, blob plumbing.Hash) bool {
	text, err := readEdited(top, filepath.FromSlash(path))
	if err != nil || isBlob(text, blob) || isBlob(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), blob) {
		return false
	}
	kept, err := f.reader.from.read(plumbing.BlobObject, blob)
	return err == nil && !bytes.HasPrefix(kept, []byte("version https://git-lfs.github.com/spec/"))
}

func readEdited(top *os.Root, name string) ([]byte, error) {
	if info, err := top.Lstat(name); err != nil || !info.Mode().IsRegular() { // a link is no file of its own
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	f, info, err := regular.OpenIn(top, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxEdited {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, maxEdited))
}

func isBlob(text []byte, id plumbing.Hash) bool {
	return plumbing.ComputeHash(plumbing.BlobObject, text) == id
}
