package llmstxt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/seed889630bf/lastword/messages"
)

const (
	temporarySuffix = ".tmp"
	// createTries is how often a new file may be lost to another run's sweep. Each run sweeps once, and a node has no
	// more than a thousand.
	createTries = 1000
)

// writeAtomically gives what fill writes its final name: written to a temporary file, synced, renamed. It is on disk
// when the caller has synced the folder as well. A crash at any point leaves the old file or the new one under the
// name, and at worst a temporary file, which the next run sweeps. An error of fill leaves the old file.
func writeAtomically(dir *os.Root, name string, run messages.RunID, b *bufio.Writer, fill func(w io.Writer) error) error {
	folder, base := path.Split(name)
	temporary := folder + "." + base + "." + string(run) + temporarySuffix
	f, err := create(dir, temporary)
	if err != nil {
		return err
	}
	defer f.Close() // not before the rename: the lock says that the file is somebody's
	b.Reset(f)
	err = fill(b)
	if err == nil {
		err = b.Flush()
	}
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

// create makes a temporary file that no other run's sweep takes away. Between its making and its lock a sweep may see
// a file of nobody's; then it has been removed, and is made again.
func create(dir *os.Root, name string) (*os.File, error) {
	for range createTries {
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil || isAt(dir, name, f) {
			return f, nil // a file system without locks is one without sweeps
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s is removed as soon as it is made", name)
}

func isAt(dir *os.Root, name string, f *os.File) bool {
	there, err := dir.Lstat(name)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(there, mine)
}

// sweep removes the temporary files that killed runs left in the folder of the artifacts whose names begin with the
// prefix, and returns how many. Those of living runs are locked.
func sweep(dir *os.Root, folder, prefix string) int {
	entries, err := fs.ReadDir(dir.FS(), folder)
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		mine := strings.HasPrefix(e.Name(), "."+prefix) && strings.HasSuffix(e.Name(), temporarySuffix)
		if mine && e.Type().IsRegular() && removeUnlocked(dir, path.Join(folder, e.Name())) {
			n++
		}
	}
	return n
}

func removeUnlocked(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return false
	}
	defer f.Close()
	return tryLock(f) == nil && dir.Remove(name) == nil
}
