package scan

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// HeadBytes of a file are looked at to tell text from binary and written from
// generated, and to find a Go file's package and imports.
const HeadBytes = 8 << 10

// progressEvery entries the caller hears of the scan.
const progressEvery = 256

// Read scans the files. progress, which may be nil, gets
// the number of entries looked at so far, now and then and once at the end. The
// error is ctx's cause, a [*LimitError], or that of opening the folder itself;
// whatever cannot be read below it is counted as left out.
func Read(ctx context.Context, files fs.FS, limits Limits, progress func(done int)) (*Repository, error) {
	w := &walker{
		ctx: ctx, files: files, limits: limits.withDefaults(), progress: progress,
		repo: &Repository{},
		left: make(map[Reason]*Left),
		head: make([]byte, HeadBytes),
	}
	if err := w.folder(nil, excludes(files)); err != nil {
		return nil, err
	}
	w.report()
	return w.result()
}

// nameOf is the path of an entry, "." for the root.
func nameOf(at []string) string { return path.Join(".", path.Join(at...)) }

type walker struct {
	ctx      context.Context
	files    fs.FS
	limits   Limits
	progress func(int)
	repo     *Repository
	left     map[Reason]*Left
	seen     int
	bytes    int64
	head     []byte
}

func (w *walker) result() (*Repository, error) {
	w.repo.Left = sortLeft(w.left)
	if len(w.repo.Files) == 0 {
		for _, l := range w.repo.Left {
			if l.Reason.isLimit() {
				return nil, w.limits.exceeded(l.Reason)
			}
		}
	}
	slices.SortFunc(w.repo.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return w.repo, nil
}

// folder looks at the files first, so that what stands at the top is never
// lost to a limit that something below it has used up.
func (w *walker) folder(at []string, patterns []gitignore.Pattern) error {
	entries, err := w.entries(at)
	if err != nil {
		if len(at) == 0 || w.stopped(err) {
			return err
		}
		w.leave(Unreadable, at, true, 0)
		return nil
	}
	patterns = append(slices.Clip(patterns), ignoreFile(w.files, ".gitignore", at)...)
	ignored := gitignore.NewMatcher(patterns)
	var below []string
	for _, e := range entries {
		if err := w.step(); err != nil {
			return err
		}
		path := append(slices.Clip(at), e.Name())
		reason := w.refuse(e, path, ignored)
		switch {
		case reason != "":
			w.leave(reason, path, e.IsDir(), 0)
		case e.IsDir():
			below = append(below, e.Name())
		default:
			w.file(path)
		}
	}
	for _, name := range below {
		if err := w.enter(append(slices.Clip(at), name), patterns); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) enter(path []string, patterns []gitignore.Pattern) error {
	if len(path) > w.limits.Depth {
		w.leave(TooDeep, path, true, 0)
		return nil
	}
	return w.folder(path, patterns)
}

// entries lists a folder by name, and stops reading where the scan would.
func (w *walker) entries(at []string) ([]fs.DirEntry, error) {
	f, err := w.files.Open(nameOf(at))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, irregular(nameOf(at))
	}
	most := w.limits.Files*entriesPerFile - w.seen
	var entries []fs.DirEntry
	for {
		more, err := dir.ReadDir(4096)
		entries = append(entries, more...)
		switch {
		case w.ctx.Err() != nil:
			return nil, context.Cause(w.ctx)
		case len(entries) > most:
			return nil, &LimitError{What: "entries", Limit: int64(w.limits.Files) * entriesPerFile}
		case errors.Is(err, io.EOF):
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
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

func (w *walker) step() error {
	w.seen++
	if w.seen%progressEvery == 0 {
		w.report()
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return nil
}

func (w *walker) report() {
	if w.progress != nil {
		w.progress(w.seen)
	}
}

// refuse gives the reason that the entry's name and type alone are enough for.
func (w *walker) refuse(e fs.DirEntry, path []string, ignored gitignore.Matcher) Reason {
	name := e.Name()
	switch {
	case isVCS(name):
		return VCS
	case !utf8.ValidString(name):
		return BadName
	case e.Type()&fs.ModeSymlink != 0:
		return w.symlink(path)
	case !e.IsDir() && !e.Type().IsRegular():
		return Irregular
	case ignored.Match(path, e.IsDir()):
		return Ignored
	case e.IsDir() && isVendored(name):
		return Vendored
	}
	return ""
}

// symlink asks the file system, which refuses to look where a link leaves it. One that follows no links at all says so.
func (w *walker) symlink(path []string) Reason {
	_, err := fs.Stat(w.files, nameOf(path))
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Symlink
	}
	return Escape
}

func (w *walker) leave(r Reason, path []string, folder bool, size int64) {
	l := w.left[r]
	if l == nil {
		l = &Left{Reason: r, First: strings.ToValidUTF8(strings.Join(path, "/"), "\uFFFD")}
		w.left[r] = l
	}
	if folder {
		l.Folders++
	} else {
		l.Files++
	}
	l.Bytes += size
}
