package scan

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/ignore"
)

// entry is the part of an [fs.DirEntry] that is kept, because folders may have very many entries.
type entry struct {
	name string
	mode fs.FileMode // the type bits
}

// batch is how many entries are listed at a time.
const batch = 1024

// entries lists a folder by name. It stops reading when the scan would.
func (w *walker) entries(d *folder) ([]entry, error) {
	f, err := d.files.Open(cmp.Or(d.base, "."))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, irregular(d.path)
	}
	most := w.limits.Files*entriesPerFile - w.seen
	var entries []entry
	for {
		more, err := dir.ReadDir(batch)
		for _, e := range more {
			entries = append(entries, entry{name: e.Name(), mode: e.Type()})
		}
		switch {
		case w.ctx.Err() != nil:
			return nil, context.Cause(w.ctx)
		case len(entries) > most:
			return nil, &LimitError{What: "entries", Limit: int64(w.limits.Files) * entriesPerFile}
		case errors.Is(err, io.EOF) || err == nil && len(more) == 0:
			slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
			return entries, nil
		case err != nil:
			return nil, err
		}
	}
}

func (w *walker) stopped(err error) bool {
	_, limit := errors.AsType[*LimitError](err)
	return limit || w.ctx.Err() != nil
}

// refuse returns a reason to leave the entry out that its name and type alone provide, or "".
func (w *walker) refuse(d *folder, e entry) Reason {
	switch {
	case is("version control", e.name):
		return VCS
	case !utf8.ValidString(e.name) || strings.Contains(e.name, "/") || !fs.ValidPath(e.name) || e.name == ".":
		return BadName
	case e.mode&fs.ModeSymlink != 0:
		return w.symlink(d.to(e.name))
	case !e.mode.IsDir() && !e.mode.IsRegular():
		return Irregular
	}
	return d.refuse(d.to(e.name), e)
}

// refuse lets .lastwordignore decide before .gitignore, and before the rules for vendored folders and files.
func (d *folder) refuse(path string, e entry) Reason {
	isDir := e.mode.IsDir()
	switch d.own.Match(path, isDir) {
	case ignore.Leave:
		return Ignored
	case ignore.Keep:
		return ""
	}
	switch {
	case d.git.Match(path, isDir) == ignore.Leave:
		return Ignored
	case isDir && isVendored(e.name), !isDir && d.marks.vendored.Match(path, false) == ignore.Leave:
		return Vendored
	}
	return ""
}

// symlink asks the file system, which refuses to follow a link that leaves it. A file system that follows no links
// says so.
func (w *walker) symlink(path string) Reason {
	_, err := fs.Stat(w.files, path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Symlink
	}
	return Escape
}
