package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"

	"github.com/seed889630bf/lastword/transport/internal/regular"
)

// wholeBytes is the maximum size, in bytes, of files that go-git reads as a whole: HEAD, refs, the configuration.
const wholeBytes = 16 << 20

// guarded is a file system that refuses to open what could block the process or fill its memory: pipes, devices, and
// large files that go-git reads as a whole. A repository from an archive may contain all of these.
type guarded struct{ billy.Filesystem }

func (g guarded) Open(name string) (billy.File, error) { return g.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile never blocks, even if a file was replaced by a pipe after it was checked. It returns files of package os,
// because those of go-billy do not tell their type.
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
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("larger than %s", bytesText(wholeBytes))}
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
