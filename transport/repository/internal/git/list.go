package git

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/tree"
)

// Limits of what a repository may contain.
const (
	maxPathBytes = 4096
	maxTags      = 8 // a tag may point to another tag
	maxDepth     = 512
)

// lister puts the files of a commit into a tree. It leaves out submodules, and names that are not UTF-8 or not a valid
// path.
type lister struct {
	from    objects
	limits  Limits
	files   *tree.Tree
	extents map[plumbing.Hash]extent // of trees that were measured, so that shared trees are measured once
	held    int                      // files that exist
	lacked  int                      // files that a partial clone did not fetch
}

// list returns the files of a commit below dir, and how many of them a partial clone lacks.
func list(ctx context.Context, from objects, commit plumbing.Hash, dir string, limits Limits) (files fs.FS, lacked int, err error) {
	l := &lister{from: from, limits: limits, files: new(tree.Tree), extents: map[plumbing.Hash]extent{}}
	top, err := l.top(commit)
	if err == nil && dir != "" {
		top, err = l.descend(top, dir)
	}
	if err == nil {
		_, err = l.measure(ctx, top, 0)
	}
	if err == nil {
		err = l.folder(ctx, top, "")
	}
	switch {
	case err == nil && l.held == 0 && l.lacked > 0:
		return nil, 0, messages.InvalidInput("the clone is partial and has none of the commit's files; git checkout brings them")
	case err == nil:
		return l.files, l.lacked, nil
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case messages.CodeOf(err) != "":
		return nil, 0, err
	}
	return nil, 0, messages.InvalidInput("the commit %s cannot be read, the repository is damaged: %s", commit, oneLine(err.Error()))
}

// top returns the tree of a commit, or of the commit that a tag points to.
func (l *lister) top(id plumbing.Hash) (plumbing.Hash, error) {
	for range maxTags {
		var c object.Commit
		err := l.decode(plumbing.CommitObject, id, &c)
		if err == nil {
			return c.TreeHash, nil
		}
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return plumbing.ZeroHash, err
		}
		var t object.Tag
		if err := l.decode(plumbing.TagObject, id, &t); err != nil {
			return plumbing.ZeroHash, messages.InvalidInput("%s is not a commit, and no tag of one; name a branch or another tag", id)
		}
		id = t.Target
	}
	return plumbing.ZeroHash, messages.InvalidInput("%s leads through more than %d tags; name a branch or another tag", id, maxTags)
}

// descend returns the tree of the folder dir.
func (l *lister) descend(top plumbing.Hash, dir string) (plumbing.Hash, error) {
	for name := range strings.SplitSeq(dir, "/") {
		var t object.Tree
		if err := l.decode(plumbing.TreeObject, top, &t); err != nil {
			return top, err
		}
		next := plumbing.ZeroHash
		for _, e := range t.Entries {
			if e.Name == name && e.Mode == filemode.Dir {
				next = e.Hash
				break
			}
		}
		if next.IsZero() {
			return top, messages.InvalidInput("the repository has no folder %.200q", dir)
		}
		top = next
	}
	return top, nil
}

// extent is the size of everything below a tree.
type extent struct {
	entries, height int
	bytes           int64
}

// measure counts what is below a tree before anything is listed. A few trees can refer to each other so often that they
// expand to more files than any machine can hold. It reads each tree once.
func (l *lister) measure(ctx context.Context, id plumbing.Hash, depth int) (extent, error) {
	e, known := l.extents[id]
	if depth+e.height > maxDepth {
		return e, messages.LimitExceeded("the repository has folders below %d others; name a folder further down", maxDepth)
	}
	if known {
		return e, nil
	}
	if err := ctx.Err(); err != nil {
		return e, err
	}
	var t object.Tree
	if err := l.decode(plumbing.TreeObject, id, &t); err != nil {
		return e, err
	}
	for i := range t.Entries {
		below, err := l.measureEntry(ctx, &t.Entries[i], depth)
		if err != nil {
			return e, err
		}
		e.entries, e.bytes = e.entries+1+below.entries, e.bytes+below.bytes
		e.height = max(e.height, below.height)
		if err := l.check(e); err != nil {
			return e, err
		}
	}
	l.extents[id] = e
	return e, nil
}

// measureEntry returns the extent of an entry. Links and submodules count nothing.
func (l *lister) measureEntry(ctx context.Context, e *object.TreeEntry, depth int) (extent, error) {
	switch kindOf(*e) {
	case branch:
		below, err := l.measure(ctx, e.Hash, depth+1)
		below.height++
		return below, err
	case leaf:
		size, err := l.from.size(e.Hash)
		return extent{bytes: size}, present(err)
	}
	return extent{}, nil
}

// present ignores the error for a file that a partial clone did not fetch.
func present(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil
	}
	return err
}

// check refuses extents beyond the limits.
func (l *lister) check(e extent) error {
	if e.bytes > l.limits.UnpackedBytes {
		return messages.LimitExceeded("the files hold more than %s; raise --max-bytes", words.Limit(l.limits.UnpackedBytes))
	}
	if e.entries > l.limits.Files {
		return messages.LimitExceeded("the repository holds more than %d files and folders; raise --max-files", l.limits.Files)
	}
	return nil
}

// folder lists the entries of a tree, and those below it.
func (l *lister) folder(ctx context.Context, id plumbing.Hash, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var t object.Tree
	if err := l.decode(plumbing.TreeObject, id, &t); err != nil {
		return err
	}
	for _, e := range t.Entries {
		if err := l.entry(ctx, &e, prefix+e.Name); err != nil {
			return err
		}
	}
	return nil
}

// entry lists an entry. It leaves out submodules, and paths that the file system could not hold.
func (l *lister) entry(ctx context.Context, e *object.TreeEntry, path string) error {
	if len(path) > maxPathBytes || strings.Contains(e.Name, "/") {
		return nil
	}
	switch e.Mode {
	case filemode.Dir:
		return l.folder(ctx, e.Hash, path+"/")
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return l.file(e.Hash, path)
	case filemode.Symlink:
		return l.link(e.Hash, path)
	}
	return nil
}

// file adds a file without reading it. Its content is read when somebody opens the file.
func (l *lister) file(id plumbing.Hash, path string) error {
	size, err := l.from.size(id)
	if err != nil {
		if err = present(err); err == nil {
			l.lacked++
		}
		return err
	}
	l.held++
	from := l.from
	_ = l.files.File(path, size, func() ([]byte, error) { return from.read(plumbing.BlobObject, id) }) // an invalid or duplicate path is left out
	return nil
}

// link adds a symbolic link. Its content is the target.
func (l *lister) link(id plumbing.Hash, path string) error {
	size, err := l.from.size(id)
	if err != nil || size > maxPathBytes {
		return present(err)
	}
	target, err := l.from.read(plumbing.BlobObject, id)
	if err != nil {
		return err
	}
	_ = l.files.Symlink(path, string(target)) // an invalid or duplicate path is left out
	return nil
}

// decode reads an object and parses it.
func (l *lister) decode(kind plumbing.ObjectType, id plumbing.Hash, into object.Object) error {
	data, err := l.from.read(kind, id)
	if err != nil {
		return err
	}
	o := new(plumbing.MemoryObject)
	o.SetType(kind)
	if _, err := o.Write(data); err != nil {
		return err
	}
	return into.Decode(o)
}
