package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Suffix ends the names of temporary files.
const Suffix = ".tmp"

// createTries is how often the sweeps of other runs may remove a new file. Each run sweeps once, and a node runs at
// most a thousand.
const createTries = 1000

// Write writes a file through a temporary file: it calls fill, syncs the file, and renames it to the slash-separated
// name. The file is on disk once the caller has called SyncFolder. A crash at any point leaves the old or the new
// file under the name, and at worst a temporary file for Sweep. An error of fill leaves the old file.
func Write(dir *os.Root, name string, mode fs.FileMode, fill func(w io.Writer) error) error {
	folder, base := path.Split(name)
	temporary := folder + "." + base + "." + rand.Text() + Suffix
	f, err := create(dir, temporary, mode)
	if err != nil {
		return err
	}
	defer f.Close() // after the rename: the lock keeps other runs from removing the file
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temporary))
	}
	return nil
}

// WriteText writes the text as Write does.
func WriteText(dir *os.Root, name string, mode fs.FileMode, text string) error {
	return Write(dir, name, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// create makes a temporary file and locks it, so that no sweep of another run removes it. If a sweep removes it
// between the two steps, create makes it again.
func create(dir *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	for range createTries {
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return nil, err
		}
		if err := LockFile(f); err != nil || isAt(dir, name, f) {
			return f, nil // without locks there are no sweeps
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s is removed as soon as it is made", name)
}

// isAt reports whether the name still is the file f.
func isAt(dir *os.Root, name string, f *os.File) bool {
	there, err := dir.Lstat(name)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(there, mine)
}

// Sweep removes the temporary files that killed processes have left in the folder, for names that begin with the
// prefix. It returns how many it removed. Files of living processes are locked.
func Sweep(dir *os.Root, folder, prefix string) int {
	entries, err := fs.ReadDir(dir.FS(), folder)
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		mine := strings.HasPrefix(e.Name(), "."+prefix) && strings.HasSuffix(e.Name(), Suffix)
		if mine && e.Type().IsRegular() && removeUnlocked(dir, path.Join(folder, e.Name())) {
			n++
		}
	}
	return n
}

// removeUnlocked removes a file unless a process holds its lock, and reports whether the file no longer exists.
func removeUnlocked(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return false
	}
	defer f.Close()
	return TryLock(f) == nil && dir.Remove(name) == nil
}

// Change opens a file that several processes change, and calls change with its folder and with it. No other Change of the
// file runs meanwhile, even if change replaces it. With [os.O_CREATE], a missing file is made.
func Change(path string, flags int, change func(folder *os.Root, f *os.File) error) error {
	folder, err := os.OpenRoot(filepath.Dir(path) + string(filepath.Separator)) // the separator requires a folder
	if err != nil {
		return err
	}
	defer folder.Close()
	f, err := lock(folder, filepath.Base(path), flags)
	if err != nil {
		return err
	}
	return errors.Join(change(folder, f), f.Close())
}

// lock opens and locks the file that has the name once it is locked.
func lock(dir *os.Root, name string, flags int) (*os.File, error) {
	for {
		f, err := dir.OpenFile(name, flags|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		switch {
		case err == nil && !info.Mode().IsRegular():
			err = fmt.Errorf("%s is no file", name)
		case err == nil:
			err = LockFile(f)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if isAt(dir, name, f) {
			return f, nil
		}
		f.Close() // another process has replaced it
	}
}
