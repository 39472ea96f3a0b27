package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// Limits of a comparison: entries of trees, and bytes of paths.
const (
	maxCompared     = 1_000_000
	maxChangedBytes = 64 << 20
)

// Changes lists the files that differ between the checked-out commit and another commit.
type Changes struct {
	Paths []string // sorted paths from the top of the work tree, of files that were added, removed or changed
	More  bool     // more files have changed than Paths lists
	Gap   string   // why the commits cannot be compared, as a clause; usually ""
}

// Since compares the checked-out commit with another commit of the repository. A rename counts as a removed and an
// added file. Changes of executable bits are ignored.
func (c *Checkout) Since(ctx context.Context, commit string) (*Changes, error) {
	if commit == c.Head {
		return &Changes{}, nil
	}
	id, ok := commitID(commit)
	if !ok {
		return &Changes{Gap: "the repository does not number its commits like this"}, nil
	}
	if _, err := c.config(); err != nil {
		return nil, err
	}
	d := &differ{reader: c.reader()}
	err := d.commits(ctx, id, plumbing.NewHash(c.Head))
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return &Changes{Gap: c.gap(d.begun)}, nil
	case errors.Is(err, errEnough):
		d.changes.More = true
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, messages.InvalidInput("the repository of %s cannot be read: %s", c.Top, oneLine(err.Error()))
	}
	slices.Sort(d.changes.Paths)
	return &d.changes, nil
}

// gap says why an object may be missing. begun says that the commit itself exists.
func (c *Checkout) gap(begun bool) string {
	_, borrows := os.Stat(filepath.Join(c.git, "objects", "info", "alternates"))
	shallow, _ := c.storage.Shallow()
	switch {
	case borrows == nil:
		return "the clone borrows from another repository, which is not read"
	case begun:
		return "the clone is partial and lacks folders of the commit"
	case len(shallow) > 0:
		return "the clone is shallow and lacks the commit, which git fetch --unshallow brings"
	}
	return "the repository lacks the commit: its history was rewritten, or it is another one"
}

func (c *Checkout) reader() *lister {
	return &lister{from: &folder{storage: c.storage, limits: Limits{}.orDefaults()}}
}

// errEnough ends a comparison that has reached a limit.
var errEnough = errors.New("there are more changes than lastword compares")

// differ collects the paths that differ between two trees.
type differ struct {
	reader         *lister // reads both commits
	begun          bool    // both commits exist
	entries, bytes int
	changes        Changes
}

// commits compares the trees of two commits.
func (d *differ) commits(ctx context.Context, was, is plumbing.Hash) error {
	before, noWas := d.reader.treeOf(was)
	after, noIs := d.reader.treeOf(is)
	if err := errors.Join(noWas, noIs); err != nil {
		return err
	}
	d.begun = true
	return d.trees(ctx, before, after, "")
}

// trees compares two trees. The zero hash stands for an empty tree. Folders with equal hashes are skipped.
func (d *differ) trees(ctx context.Context, was, is plumbing.Hash, prefix string) error {
	if err := ctx.Err(); err != nil || was == is {
		return err
	}
	before, noWas := d.tree(was)
	after, noIs := d.tree(is)
	if err := errors.Join(noWas, noIs); err != nil {
		return err
	}
	old := make(map[string]entry, len(before))
	for _, e := range before {
		old[e.name] = e
	}
	for _, e := range after {
		if err := d.entry(ctx, old[e.name], e, prefix+e.name); err != nil {
			return err
		}
		delete(old, e.name)
	}
	for name, e := range old {
		if err := d.entry(ctx, e, entry{}, prefix+name); err != nil {
			return err
		}
	}
	return nil
}

// tree reads a tree. It fails with errEnough when the comparison has seen too many entries.
func (d *differ) tree(id plumbing.Hash) ([]entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	list, err := d.reader.entries(id)
	if d.entries += len(list); d.entries > maxCompared {
		return nil, errEnough
	}
	return list, err
}

// entry compares two entries with the same name. The zero entry stands for a missing one.
func (d *differ) entry(ctx context.Context, was, is entry, path string) error {
	if was.id == is.id && kindOf(was) == kindOf(is) {
		return nil
	}
	if kindOf(was) >= leaf || kindOf(is) >= leaf {
		if d.bytes += len(path); d.bytes > maxChangedBytes || len(path) > maxPathBytes {
			return errEnough
		}
		d.changes.Paths = append(d.changes.Paths, path)
	}
	return d.trees(ctx, below(was), below(is), path+"/")
}

// entryKind is what readers need to know about an entry's mode.
type entryKind uint8

const (
	nothing entryKind = iota
	branch
	leaf
	pointer // like a leaf, but a symbolic link or a submodule
)

// kindOf returns the kind of an entry. The zero entry is nothing.
func kindOf(e entry) entryKind {
	switch e.mode {
	case filemode.Empty:
		return nothing
	case filemode.Dir:
		return branch
	case filemode.Symlink, filemode.Submodule:
		return pointer
	}
	return leaf
}

// below returns the tree of a folder, or the zero hash for anything else.
func below(e entry) plumbing.Hash {
	if kindOf(e) == branch {
		return e.id
	}
	return plumbing.ZeroHash
}

// maxEdited is the maximum size, in bytes, of files whose contents are compared.
const maxEdited = 16 << 20

// Edited returns the paths, from the top of the work tree, whose file differs from the checked-out commit. It
// skips files that are missing on either side, symbolic links, files in Git LFS, and files larger than 16 MiB.
func (c *Checkout) Edited(ctx context.Context, paths []string) (edited []string, err error) {
	if _, err := c.config(); err != nil {
		return nil, err
	}
	top, err := regular.Root(c.Top)
	if err != nil {
		return nil, messages.InvalidInput("%s cannot be opened: %s", c.Top, oneLine(err.Error()))
	}
	defer top.Close()
	l := c.reader()
	tree, err := l.treeOf(plumbing.NewHash(c.Head))
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, nil // the commit is not available locally
	case err != nil:
		return nil, messages.InvalidInput("the repository of %s cannot be read: %s", c.Top, oneLine(err.Error()))
	}
	listed, files := "", map[string]entry{} // what the commit has in one folder
	for _, name := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir, base := path.Split(name)
		if dir != listed || len(files) == 0 {
			listed, files = dir, l.filesIn(tree, dir)
		}
		if e := files[base]; kindOf(e) == leaf && c.differs(top, name, e.id) {
			edited = append(edited, name)
		}
	}
	return edited, nil
}

// filesIn returns the entries of a folder by name. It returns none of a folder that cannot be read.
func (l *lister) filesIn(tree plumbing.Hash, dir string) map[string]entry {
	files := map[string]entry{}
	if dir = strings.TrimSuffix(dir, "/"); dir != "" {
		var err error
		if tree, err = l.descend(tree, dir); err != nil {
			return files
		}
	}
	list, _ := l.entries(tree)
	for _, e := range list {
		files[e.name] = e
	}
	return files
}

// differs compares by git's hash. It ignores different line ends in the work tree, and accepts any content for a Git
// LFS pointer in the commit.
func (c *Checkout) differs(top *os.Root, path string, blob plumbing.Hash) bool {
	text, err := readEdited(top, filepath.FromSlash(path))
	if err != nil || isBlob(text, blob) || isBlob(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), blob) {
		return false
	}
	kept, err := c.reader().from.read(plumbing.BlobObject, blob)
	return err == nil && !bytes.HasPrefix(kept, []byte("version https://git-lfs.github.com/spec/"))
}

// readEdited reads a file of the work tree, unless it is too large to be shown.
func readEdited(top *os.Root, name string) ([]byte, error) {
	if info, err := top.Lstat(name); err != nil || !info.Mode().IsRegular() { // a link has no content of its own
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
