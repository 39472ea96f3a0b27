package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// folder is a source that reads a local repository, within its root. go-git's own transport for local repositories
// would run git. Objects borrowed from other repositories lie outside the root and are not found.
type folder struct {
	mu      sync.Mutex // the storage is not safe for concurrent use
	storage *filesystem.Storage
	limits  Limits
}

// openFolder opens a repository on this machine.
func openFolder(u *url.URL, limits Limits) (*folder, error) {
	root, err := openRepository(pathOf(u))
	if err != nil {
		return nil, err
	}
	if _, err := root.Stat("objects"); err != nil {
		_ = root.Close()
		return nil, messages.InvalidInput("%.200q is not a git repository; name its top folder", u.Path)
	}
	storage := filesystem.NewStorage(&readOnly{root}, cache.NewObjectLRU(16*cache.MiByte))
	return &folder{storage: storage, limits: limits}, nil
}

// FolderURL returns the file URL of an absolute path.
func FolderURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the path of a file URL.
func pathOf(u *url.URL) string {
	if drive := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(drive) != "" {
		return filepath.FromSlash(drive)
	}
	return filepath.FromSlash(u.Path)
}

// openRepository opens the git folder at path, or the path itself for a bare repository.
func openRepository(path string) (*os.Root, error) {
	root, err := regular.Root(path)
	if err != nil {
		return nil, messages.InvalidInput("%.200q cannot be opened: %s", path, oneLine(err.Error()))
	}
	inner, err := root.OpenRoot(".git/")
	if errors.Is(err, os.ErrNotExist) {
		return root, nil
	}
	_ = root.Close()
	if err != nil {
		return nil, messages.InvalidInput("the repository of %.200q lies elsewhere; name the folder that it was made from", path)
	}
	return inner, nil
}

// close does nothing: files are read later and need the root. It is closed when the last of them is garbage collected.
func (f *folder) close() {}

// refs reads all refs. It fails if there is no commit at all.
func (f *folder) refs(ctx context.Context) (*refs, error) {
	r := &refs{names: map[string]plumbing.Hash{}, peeled: map[string]plumbing.Hash{}}
	all, err := f.storage.IterReferences()
	if err != nil {
		return nil, messages.InvalidInput("the refs cannot be read: %s", oneLine(err.Error()))
	}
	err = all.ForEach(func(ref *plumbing.Reference) error { f.add(r, ref); return ctx.Err() })
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, messages.InvalidInput("the refs cannot be read: %s", oneLine(err.Error()))
	case len(r.names) == 0 && r.head.IsZero():
		return nil, errEmpty()
	}
	return r, nil
}

// add adds a ref. It skips refs without a commit, such as a branch before its first commit.
func (f *folder) add(r *refs, ref *plumbing.Reference) {
	found, err := storer.ResolveReference(f.storage, ref.Name())
	switch {
	case err != nil:
	case ref.Name() == plumbing.HEAD:
		r.head = found.Hash()
		if found.Name() != plumbing.HEAD {
			r.main = short(found.Name().String())
		}
	default:
		name := ref.Name().String()
		r.names[name] = found.Hash()
		if target, err := targetOf(f, found.Hash()); err == nil {
			r.peeled[name] = target
		}
	}
}

func (f *folder) objects(context.Context, plumbing.Hash) (objects, error) { return f, nil }

func (f *folder) size(h plumbing.Hash) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.storage.EncodedObjectSize(h)
}

// read checks the size before it reads the object, so that a large one takes no memory.
func (f *folder) read(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size, err := f.storage.EncodedObjectSize(h)
	if err != nil {
		return nil, err
	}
	if size > f.limits.ObjectBytes {
		return nil, exceededObject(size, f.limits)
	}
	o, err := f.storage.EncodedObject(kind, h)
	if err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, o.Size())
	_, err = io.ReadFull(r, data)
	return data, err
}

// wholeBytes is the maximum size, in bytes, of files that go-git reads as a whole: HEAD, refs, the configuration.
const wholeBytes = 16 << 20

// guarded is a file system that refuses to open what could block the process or fill its memory: pipes, devices, and
// large files that go-git reads as a whole. A repository from an archive may contain all of these.
type guarded struct{ billy.Filesystem }

func (g guarded) Open(name string) (billy.File, error) { return g.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile never blocks, even if a file was replaced by a pipe after it was checked. It returns files of package os,
// because go-billy's do not tell their type.
func (g guarded) OpenFile(name string, flag int, _ os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, billy.ErrReadOnly
	}
	f, err := os.OpenFile(filepath.Join(g.Root(), filepath.Clean("/"+name)), regular.Flags, 0)
	return openable(f, name, err)
}

func (g guarded) Chroot(name string) (billy.Filesystem, error) {
	below, err := g.Filesystem.Chroot(name)
	return guarded{below}, err
}

// openable checks a file that was opened without blocking.
func openable(f *os.File, name string, err error) (billy.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() && !info.IsDir():
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	case info.Size() > wholeBytes && isWhole(name):
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("larger than %s", words.Limit(wholeBytes))}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return readOnlyFile{f, name}, nil
}

// isWhole reports whether go-git reads the file as a whole, rather than by lines or in parts.
func isWhole(name string) bool {
	name = filepath.ToSlash(filepath.Clean(name))
	return !strings.HasPrefix(name, "objects/") && name != "packed-refs"
}

// readOnly is a read-only file system for go-git that cannot leave its root.
type readOnly struct{ root *os.Root }

// readOnlyFile is an open file that cannot be written.
type readOnlyFile struct {
	*os.File
	name string // relative to the root; go-git opens files again by this name
}

func (f readOnlyFile) Name() string { return f.name }

func (readOnlyFile) Lock() error   { return billy.ErrReadOnly }
func (readOnlyFile) Unlock() error { return billy.ErrReadOnly }

func (r *readOnly) Open(name string) (billy.File, error) {
	f, err := r.root.OpenFile(name, regular.Flags, 0)
	return openable(f, name, err)
}

// OpenFile refuses to write.
func (r *readOnly) OpenFile(name string, flag int, _ os.FileMode) (billy.File, error) {
	if flag != os.O_RDONLY {
		return nil, billy.ErrReadOnly
	}
	return r.Open(name)
}

// ReadDir leaves out entries that vanish while it reads.
func (r *readOnly) ReadDir(name string) ([]os.FileInfo, error) {
	entries, err := fs.ReadDir(r.root.FS(), filepath.ToSlash(filepath.Clean(name)))
	if err != nil {
		return nil, err
	}
	infos := make([]os.FileInfo, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// Chroot returns a folder, from which no path leads out.
func (r *readOnly) Chroot(name string) (billy.Filesystem, error) {
	root, err := r.root.OpenRoot(name + "/")
	if err != nil {
		return nil, err
	}
	return &readOnly{root}, nil
}

func (r *readOnly) Stat(name string) (os.FileInfo, error)  { return r.root.Stat(name) }
func (r *readOnly) Lstat(name string) (os.FileInfo, error) { return r.root.Lstat(name) }
func (r *readOnly) Readlink(name string) (string, error)   { return r.root.Readlink(name) }
func (r *readOnly) Join(parts ...string) string            { return filepath.Join(parts...) }
func (r *readOnly) Root() string                           { return r.root.Name() }

func (*readOnly) Create(string) (billy.File, error)           { return nil, billy.ErrReadOnly }
func (*readOnly) TempFile(string, string) (billy.File, error) { return nil, billy.ErrReadOnly }
func (*readOnly) Rename(string, string) error                 { return billy.ErrReadOnly }
func (*readOnly) Remove(string) error                         { return billy.ErrReadOnly }
func (*readOnly) MkdirAll(string, os.FileMode) error          { return billy.ErrReadOnly }
func (*readOnly) Symlink(string, string) error                { return billy.ErrReadOnly }
