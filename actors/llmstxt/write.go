package llmstxt

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
	"github.com/seed889630bf/lastword/messages"
)

// file is an artifact to write: how it is rendered and what its bytes must pass before they get their name.
type file struct {
	name   string
	render func(w io.Writer) error
	check  func(data []byte) error // nil for a form without rules
}

func (f file) bytes() ([]byte, error) {
	var buf bytes.Buffer
	if err := f.render(&buf); err != nil {
		return nil, err
	}
	if f.check != nil {
		if err := f.check(buf.Bytes()); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}

func makeOut(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return invalid("cannot make the output folder %s: %v", out, reason(err))
	}
	return nil
}

// openOut opens the folder dir below out, making both. Nothing that out holds, such as a link, can lead elsewhere.
func openOut(out, dir string) (*os.Root, error) {
	if err := makeOut(out); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, invalid("cannot open the output folder %s: %v", out, reason(err))
	}
	defer root.Close()
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return nil, invalid("cannot make the folder %s in %s: %v", dir, out, reason(err))
	}
	for made := dir; made != "."; made = path.Dir(made) {
		if err := syncFolder(root, path.Dir(made)); err != nil {
			return nil, err
		}
	}
	return root.OpenRoot(dir)
}

// place gives the data its final name: written to a temporary file, synced, renamed, the folder synced. A crash at any
// point leaves the old file or the new one under the name, and at worst a temporary file, which the next run sweeps.
func place(dir *os.Root, name string, run messages.RunID, data []byte) error {
	temporary := "." + name + "." + string(run) + temporarySuffix
	f, err := create(dir, temporary)
	if err != nil {
		return err
	}
	defer f.Close() // not before the rename: the lock says that the file is somebody's
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = dir.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temporary))
	}
	return syncFolder(dir, ".")
}

func syncFolder(dir *os.Root, name string) error {
	d, err := dir.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

const (
	temporarySuffix = ".tmp"
	// createTries is how often a new file may be lost to another run's sweep.
	createTries = 3
)

// create makes a temporary file that no other run's sweep takes away. Between its making and its lock a sweep may see a
// file of nobody's; then it has been removed, and is made again.
func create(dir *os.Root, name string) (*os.File, error) {
	for range createTries {
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil || linked(dir, name, f) {
			return f, nil // a file system without locks is one without sweeps
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s is removed as soon as it is made", name)
}

func linked(dir *os.Root, name string, f *os.File) bool {
	there, err := dir.Lstat(name)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(there, mine)
}

// sweep removes the temporary files that killed runs left of the artifacts whose names begin with the prefix, and
// returns how many. Those of living runs are locked.
func sweep(dir *os.Root, prefix string) int {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		mine := strings.HasPrefix(e.Name(), "."+prefix) && strings.HasSuffix(e.Name(), temporarySuffix)
		if mine && e.Type().IsRegular() && removeUnlocked(dir, e.Name()) {
			n++
		}
	}
	return n
}

func removeUnlocked(dir *os.Root, name string) bool {
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return tryLock(f) == nil && dir.Remove(name) == nil
}

func checkTxt(data []byte) error {
	if _, problems := check.Parse(string(data)); len(problems) > 0 {
		return fmt.Errorf("not a valid llms.txt: %v", problems[0])
	}
	return nil
}

func checkXML(data []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.RawToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
	}
}
