package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// lockPause is how long a run waits before it tries again to lock the folder.
const lockPause = 10 * time.Millisecond

// folder is the locked folder for the files: no other run writes there.
type folder struct {
	*os.Root
	place
	dir      string            // slash-separated, relative to the output folder
	path     string            // with links resolved
	previous *llmstxt.Document // written by the run before; nil if there was none
	lock     *os.File
}

// openFolder opens and locks the folder for the files. If the first choice holds the files of another repository, it
// uses the second.
func (p place) openFolder(ctx context.Context, t *actors.TaskContext) (*folder, error) {
	dirs := p.folders()
	f, err := p.lockFolder(ctx, t, dirs[0])
	if err != nil || len(dirs) == 1 || !f.isOther(p.at.Path) {
		return f, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return p.lockFolder(ctx, t, dirs[1])
}

// lockFolder opens the folder, waits for other runs that write into it, and reads its previous document.
func (p place) lockFolder(ctx context.Context, t *actors.TaskContext, dir string) (*folder, error) {
	root, err := openOut(p.out, dir)
	if err != nil {
		return nil, err
	}
	lock, err := waitForLock(ctx, root, func() {
		t.Log(messages.LogInfo, "waiting for another run that writes into "+dir)
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &folder{Root: root, place: p, dir: dir, lock: lock,
		path: realPath(filepath.Join(p.out, filepath.FromSlash(dir)))}
	if p.config.File == "" {
		f.previous = llmstxt.DocumentOf(confined.FS(root), p.fileOf(llmstxt.NameJSON))
	}
	return f, nil
}

func (f *folder) Close() error { return errors.Join(f.lock.Close(), f.Root.Close()) }

// isOther reports whether the folder holds the files of a local repository other than source that still exists.
func (f *folder) isOther(source string) bool {
	if f.previous == nil {
		return false
	}
	way, err := url.PathUnescape(f.previous.Repository.Path)
	if err != nil {
		return false
	}
	other := filepath.Join(f.path, filepath.FromSlash(way))
	if _, err := os.Stat(other); err != nil {
		return false
	}
	return way == "" || realPath(other) != realPath(source)
}

// relativeURL returns the relative URL from a folder to a file.
func relativeURL(from, to string) string {
	way, err := filepath.Rel(realPath(from), realPath(to))
	if err != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(way)}).EscapedPath()
}

// removeStale removes files that the previous run wrote and this run did not. A file that was changed in between
// stays.
func (f *folder) removeStale(t *actors.TaskContext, written []llmstxt.Artifact) {
	if f.previous == nil {
		return
	}
	fresh := map[string]bool{llmstxt.NameJSON: true}
	for _, a := range written {
		fresh[a.Name] = true
	}
	n, pagesAlone := 0, f.input.Layout == LayoutLmstxt // the tools of this layout write one kind of file in each run
	for _, old := range f.previous.Artifacts {
		if fresh[old.Name] || llmstxt.CheckerOf(old.Name) == nil { // anybody may have written this llms.json
			continue
		}
		if pagesAlone && !(f.input.Graph && llmstxt.IsPage(old.Name)) {
			continue
		}
		name := f.fileOf(old.Name)
		data, err := readRegular(f.Root, name)
		if err == nil && messages.Digest(string(data)) == old.SHA256 && confined.Remove(f.Root, name) == nil {
			n++
		}
	}
	if n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s of the previous run", words.Count(n, "file")))
		_ = errors.Join(confined.Remove(f.Root, pagesFolder), confined.Remove(f.Root, graphFolder)) // they stay if they hold files
	}
}

// openOut opens the folder dir below out, and makes both if needed. Neither is reached through a link.
func openOut(out, dir string) (*os.Root, error) {
	root, err := confined.MakeRoot(out)
	if err != nil {
		return nil, messages.InvalidInput("cannot open the output folder %s: %v; --out names another", out, reason(err))
	}
	defer root.Close()
	below, err := confined.Make(root, dir)
	if err != nil {
		return nil, messages.InvalidInput("cannot make the folder %s in %s: %v", dir, out, reason(err))
	}
	return below, nil
}

// waitForLock locks the folder, so that all files in it belong to one run. If another run holds the lock, in this
// process or another, it calls waits once and waits. Closing the file, or the end of the process, releases the lock.
// On a file system without locks it does not wait.
func waitForLock(ctx context.Context, dir *os.Root, waits func()) (*os.File, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	for first := true; errors.Is(atomicfile.TryLock(f), syscall.EWOULDBLOCK); first = false {
		if first {
			waits()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(lockPause):
		}
	}
	return f, nil
}

// sweep makes the graph's folders. It removes and counts the temporary and partial files of unfinished runs.
func (f *folder) sweep() (n int, err error) {
	if f.input.Graph {
		for dir, prefix := range map[string]string{graphFolder: "repo.", pagesFolder: ""} {
			folder, err := confined.Make(f.Root, dir)
			if err != nil {
				return 0, messages.InvalidInput("cannot make the folder %s in %s: %v", dir, f.dir, reason(err))
			}
			n += atomicfile.Sweep(folder, ".", prefix)
			folder.Close()
		}
	}
	for _, name := range names {
		if confined.Remove(f.Root, f.fileOf(name)+partialSuffix) == nil {
			n++
		}
	}
	return n + atomicfile.Sweep(f.Root, ".", f.stem()), nil
}

// Layout is the arrangement and naming of the files below Input.Out.
type Layout string

// The layouts.
const (
	// LayoutHost is <host>/<owner>/<name>/llms.txt, and local/<name>/llms.txt for a repository without a remote.
	LayoutHost Layout = ""
	// LayoutFlat is llms.txt in Out itself.
	LayoutFlat Layout = "flat"
	// LayoutLmstxt is <owner>/<name>/<name>-llms.txt, as the tools lmstxt_* promise.
	LayoutLmstxt Layout = "lmstxt"

	layoutDefault = "host" // as callers spell it
)

// Folders lists the folders for a repository's files, slash-separated, relative to the output folder. The second one
// is used if the first belongs to another repository. path is the folder or archive on this machine, or "".
func Folders(of *source.Repository, layout Layout, path string) []string {
	if layout == LayoutFlat {
		return []string{"."}
	}
	o := originOf(of)
	if o.Owner == "" {
		dir := "local/" + fileName(of.Name)
		if path == "" {
			return []string{dir}
		}
		return []string{dir, dir + "-" + messages.Digest(realPath(path))[:8]}
	}
	dir := visible(o.Owner) + "/" + visible(o.Repo)
	if layout == LayoutHost {
		dir = fileName(cmp.Or(o.Host, "local")) + "/" + dir
	}
	for part := range strings.FieldsFuncSeq(o.Prefix, func(r rune) bool { return r == '/' }) {
		dir += "/" + fileName(part)
	}
	return []string{dir}
}

// originOf returns what is known of the repository's origin.
func originOf(m *source.Repository) llmstxt.Origin {
	o := llmstxt.ParseOrigin(m.Remote, m.Commit, m.Folder)
	o.Branch, o.Version = m.Branch, m.Version
	return o
}

// place is where the files of a run go.
type place struct {
	*generation
	material *source.Repository
	out      string
}

func (g *generation) place(m *source.Repository, out string) place { return place{g, m, out} }

func (p place) folders() []string {
	if p.config.File != "" {
		return []string{"."}
	}
	return Folders(p.material, p.input.Layout, p.at.Path)
}

// stem returns the beginning of the text files' names.
func (p place) stem() string {
	if p.config.File != "" {
		return p.config.File
	}
	if p.input.Layout != LayoutLmstxt {
		return "llms"
	}
	o := originOf(p.material)
	name := cmp.Or(o.Repo, p.material.Name)
	if o.Owner != "" && o.Prefix != "" {
		name = path.Base(o.Prefix)
	}
	return fileName(name) + "-llms"
}

// Folders of the graph, relative to the repository's.
const (
	graphFolder = "graph"
	pagesFolder = "graph/nodes"
)

// names are the artifacts that a run may write, apart from the graph's pages.
var names = []string{llmstxt.NameTxt, llmstxt.NameFull, llmstxt.NameCtx, llmstxt.NameJSON, llmstxt.NameGraph, llmstxt.NameForce}

// fileOf returns the path of an artifact in the repository's folder.
func (p place) fileOf(artifact string) string {
	switch {
	case llmstxt.OfGraph(artifact):
		return path.Join(graphFolder, artifact)
	case p.config.File != "":
		return p.config.File
	}
	return p.stem() + strings.TrimPrefix(artifact, "llms")
}

// visible returns a folder name that is not hidden, for a repository such as .github.
func visible(name string) string {
	if rest, hidden := strings.CutPrefix(name, "."); hidden && strings.Trim(rest, ".") != "" {
		return "_" + rest
	}
	return name
}

// fileName makes a name safe for the beginning of a file name.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	if safe = strings.TrimLeft(safe, "."); safe == "" {
		return "repository"
	}
	return safe
}

// realPath resolves links where it can.
func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

// isOutput returns a function that reports whether this job writes the file, or a temporary file for it. Such files
// are not read, so that a second run into the repository gives the same result.
func (p place) isOutput() func(name string) bool {
	if p.at.Kind != source.Folder {
		return func(string) bool { return false }
	}
	var outputs, pages []string
	for _, dir := range p.folders() {
		inside, err := filepath.Rel(realPath(p.at.Path), filepath.Join(realPath(p.out), filepath.FromSlash(dir)))
		if err != nil {
			continue
		}
		inside = filepath.ToSlash(inside)
		for _, name := range names {
			outputs = append(outputs, path.Join(inside, p.fileOf(name)))
		}
		pages = append(pages, path.Join(inside, pagesFolder))
	}
	return func(file string) bool {
		folder, name := path.Split(strings.TrimSuffix(file, partialSuffix))
		if temporary, ok := strings.CutSuffix(name, atomicfile.Suffix); ok && name[0] == '.' {
			name = strings.TrimSuffix(temporary[1:], path.Ext(temporary))
		}
		return slices.Contains(outputs, folder+name) ||
			path.Ext(name) == ".md" && slices.Contains(pages, path.Clean(folder))
	}
}
