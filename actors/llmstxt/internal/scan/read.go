package scan

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/stable"
)

// HeadBytes is how much of a file is examined to distinguish text from binary and hand-written from generated files,
// and to find a Go file's package and imports.
const HeadBytes = 8 << 10

// ruleSteps bounds the matching of ignore files and of .gitattributes, because thousands of patterns with wildcards
// may be compared with thousands of files.
const ruleSteps = 150_000_000

// progressEvery is the number of entries between two calls of progress.
const progressEvery = 256

// Read scans the files. For a folder of the operating system see [confined.TreeOf]. tracked, unless nil, reports which
// files and folders belong to the repository, in place of .gitignore. progress, unless nil, is called with the
// number of examined entries, now and then and once at the end. The error is the cause of ctx, a [*LimitError], or
// the error of opening the folder itself. Whatever cannot be read below it counts as left out.
func Read(ctx context.Context, files fs.FS, limits Limits, tracked func(path string) bool, progress func(done int)) (*Repository, error) {
	w := &walker{
		ctx: ctx, files: files, limits: limits.withDefaults(), tracked: tracked, progress: progress,
		repo: &Repository{},
		left: make(map[Reason]*Left),
		head: make([]byte, HeadBytes), rules: ignore.Bounded(ctx, ruleSteps),
	}
	if err := w.folder(top(files, w.rules)); err != nil {
		return nil, err
	}
	if err := w.stop(); err != nil { // with the last entry
		return nil, err
	}
	w.report()
	return w.result()
}

// walker holds the state of a Read. One goroutine uses it.
type walker struct {
	ctx      context.Context
	files    fs.FS
	limits   Limits
	tracked  func(path string) bool
	progress func(int)
	repo     *Repository
	left     map[Reason]*Left
	seen     int
	bytes    int64
	head     []byte
	rules    *ignore.Rules // the rules that all others extend
}

// result returns the repository, in order. If limits left no file at all, it returns the LimitError of one.
func (w *walker) result() (*Repository, error) {
	for _, reason := range slices.Sorted(maps.Keys(w.left)) {
		w.repo.Left = append(w.repo.Left, *w.left[reason])
	}
	if len(w.repo.Files) == 0 {
		for _, l := range w.repo.Left {
			if over := w.limits.exceeded(l.Reason); over != nil {
				return nil, over
			}
		}
	}
	stable.Sort(w.repo.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return w.repo, nil
}

// folder looks at the files first, so that a limit which deeper files exhaust never affects files at the top.
func (w *walker) folder(d *folder) error {
	entries, err := w.entries(d)
	switch {
	case err != nil && (d.path == "" || w.stopped(err)):
		return err
	case err != nil:
		w.skip(Unreadable, d.path, true, 0)
		return nil
	case d.path != "" && d.own.Match(d.path, true) != ignore.Keep && isForeign(d.path, entries):
		w.skip(Vendored, d.path, true, 0)
		return nil
	}
	d.applyRules(entries)
	below, err := w.visit(d, entries)
	if err != nil {
		return err
	}
	for _, name := range below {
		if err := w.enter(d, name); err != nil {
			return err
		}
	}
	return nil
}

// visit keeps the folder's files, and returns the folders to enter.
func (w *walker) visit(d *folder, entries []entry) (below []string, err error) {
	for _, e := range entries {
		if err := w.step(); err != nil {
			return nil, err
		}
		reason := w.refuse(d, e)
		switch {
		case reason != "":
			w.skip(reason, d.to(e.name), e.mode.IsDir(), 0)
		case e.mode.IsDir():
			below = append(below, e.name)
		default:
			w.file(d, e.name)
		}
	}
	return below, nil
}

// enter reads a folder within d. A folder that is too deep or cannot be opened counts as left out.
func (w *walker) enter(d *folder, name string) error {
	if d.depth >= w.limits.Depth {
		w.skip(TooDeep, d.to(name), true, 0)
		return nil
	}
	sub, done, err := d.enter(name)
	if err != nil {
		w.skip(Unreadable, d.to(name), true, 0)
		return nil
	}
	defer done()
	return w.folder(sub)
}

func (w *walker) step() error {
	w.seen++
	if w.seen%progressEvery == 0 {
		w.report()
	}
	return w.stop()
}

// stop returns why the scan must end now, or nil.
func (w *walker) stop() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.rules.Spent() {
		return &LimitError{What: "ignore rules", Limit: ruleSteps}
	}
	return nil
}

func (w *walker) report() {
	if w.progress != nil {
		w.progress(w.seen)
	}
}

// skip counts what is left out, and keeps the first path for each reason.
func (w *walker) skip(r Reason, path string, folder bool, size int64) {
	l := w.left[r]
	if l == nil {
		l = &Left{Reason: r, First: strings.ToValidUTF8(path, "\uFFFD")}
		w.left[r] = l
	}
	if folder {
		l.Folders++
	} else {
		l.Files++
	}
	l.Bytes += size
}

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
		return nil, confined.Irregular(d.path)
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
			stable.Sort(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
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
	return w.ignore(d, d.to(e.name), e)
}

// ignore lets .lastwordignore decide before git, and before the rules for vendored folders and files. What an archive of
// the repository leaves out is not for its users; documents with usual names at the top are: packages go without them.
func (w *walker) ignore(d *folder, path string, e entry) Reason {
	isDir := e.mode.IsDir()
	switch d.own.Match(path, isDir) {
	case ignore.Leave:
		return Ignored
	case ignore.Keep:
		return ""
	}
	switch {
	case w.tracked != nil && !w.tracked(path):
		return Untracked
	case w.tracked == nil && d.git.Match(path, isDir) == ignore.Leave:
		return Ignored
	case d.marks.unexported.Match(path, isDir) == ignore.Leave && (path != e.name || !isDocumentName(path) && !is("document folder", path)):
		return Unexported
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
