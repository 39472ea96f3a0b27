package git

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

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
		tree, err := l.treeOf(id)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return tree, err
		}
		target, err := targetOf(l.from, id)
		if err != nil {
			return plumbing.ZeroHash, messages.InvalidInput("%s is not a commit, and no tag of one; name a branch or another tag", id)
		}
		id = target
	}
	return plumbing.ZeroHash, messages.InvalidInput("%s leads through more than %d tags; name a branch or another tag", id, maxTags)
}

// descend returns the tree of the folder dir.
func (l *lister) descend(top plumbing.Hash, dir string) (plumbing.Hash, error) {
	for name := range strings.SplitSeq(dir, "/") {
		list, err := l.entries(top)
		if err != nil {
			return top, err
		}
		i := slices.IndexFunc(list, func(e entry) bool { return e.name == name && e.mode == filemode.Dir })
		if i < 0 {
			return top, messages.InvalidInput("the repository has no folder %.200q", dir)
		}
		top = list[i].id
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
	list, err := l.entries(id)
	if err != nil {
		return e, err
	}
	for _, one := range list {
		below, err := l.measureEntry(ctx, one, depth)
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
func (l *lister) measureEntry(ctx context.Context, e entry, depth int) (extent, error) {
	switch kindOf(e) {
	case branch:
		below, err := l.measure(ctx, e.id, depth+1)
		below.height++
		return below, err
	case leaf:
		size, err := l.from.size(e.id)
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
	list, err := l.entries(id)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := l.entry(ctx, e, prefix+e.name); err != nil {
			return err
		}
	}
	return nil
}

// entry lists an entry. It leaves out submodules, and paths that the file system could not hold.
func (l *lister) entry(ctx context.Context, e entry, path string) error {
	if len(path) > maxPathBytes || strings.Contains(e.name, "/") {
		return nil
	}
	switch e.mode {
	case filemode.Dir:
		return l.folder(ctx, e.id, path+"/")
	case filemode.Regular, filemode.Executable:
		return l.file(e.id, path)
	case filemode.Symlink:
		return l.link(e.id, path)
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
