package generate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/filelock"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// lockPause is how long a run waits before it tries again to lock the folder.
const lockPause = 10 * time.Millisecond

// folder is where the files go, while no other run writes there.
type folder struct {
	*os.Root
	dir      string           // slash-separated, below the output folder
	path     string           // without links
	previous *render.Document // that the run before wrote, or nil
	lock     *os.File
}

// openFolder opens and locks the folder for the files. If the first choice has the files of another repository, it
// takes the second.
func (g *generation) openFolder(ctx context.Context, t *actors.TaskContext) (*folder, error) {
	dirs := g.folders()
	f, err := g.lockFolder(ctx, t, dirs[0])
	if err != nil || len(dirs) == 1 || !f.isOther(g.at.Path) {
		return f, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return g.lockFolder(ctx, t, dirs[1])
}

func (g *generation) lockFolder(ctx context.Context, t *actors.TaskContext, dir string) (*folder, error) {
	root, err := openOut(g.input.Out, dir)
	if err != nil {
		return nil, err
	}
	lock, err := waitForLock(ctx, root, func() {
		t.Log(messages.LogInfo, "waiting for another run that writes into "+dir)
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &folder{Root: root, dir: dir, path: realPath(filepath.Join(g.input.Out, filepath.FromSlash(dir))), lock: lock}
	if g.input.File == "" {
		f.previous = documentOf(scan.Folder(root), g.fileOf(nameJSON))
	}
	return f, nil
}

func (f *folder) Close() error { return errors.Join(f.lock.Close(), f.Root.Close()) }

// isOther reports whether the folder has the files of another local repository than source, and that still exists.
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

// relativeURL leads from a folder to a file.
func relativeURL(from, to string) string {
	way, err := filepath.Rel(realPath(from), realPath(to))
	if err != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(way)}).EscapedPath()
}

// removeStale removes the files that the previous run wrote and this one did not. A file that was changed since
// stays.
func (g *generation) removeStale(t *actors.TaskContext, out *folder, written []render.Artifact) {
	if out.previous == nil {
		return
	}
	fresh := map[string]bool{nameJSON: true}
	for _, f := range written {
		fresh[f.Name] = true
	}
	n, pagesAlone := 0, g.input.Layout == LayoutLmstxt // its tools write one kind of file in each run
	for _, old := range out.previous.Artifacts {
		if fresh[old.Name] || checkOf(old.Name) == nil { // anybody may have written this llms.json
			continue
		}
		if pagesAlone && !(g.input.Graph && graph.IsPage(old.Name)) {
			continue
		}
		name := g.fileOf(old.Name)
		data, err := readRegular(out.Root, name)
		if err == nil && messages.Digest(string(data)) == old.SHA256 && out.Remove(name) == nil {
			n++
		}
	}
	if n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s of the previous run", prose.Count(n, "file")))
		_ = errors.Join(out.Remove(pagesFolder), out.Remove(graphFolder)) // they stay if they hold files
	}
}

// documentOf reads the llms.json of an earlier run; nil if there is none.
func documentOf(files fs.FS, name string) *render.Document {
	const most = 64 << 20
	data, err := readAtMost(files, name, most)
	d := new(render.Document)
	if err != nil || json.Unmarshal(data, d) != nil || d.Schema != render.Schema {
		return nil
	}
	return d
}

func readAtMost(files fs.FS, name string, most int64) ([]byte, error) {
	f, info, err := scan.OpenRegular(files, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, most))
}

func makeOut(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return invalid("cannot make the output folder %s: %v", out, reason(err))
	}
	return nil
}

// openOut opens the folder dir below out, making both. Nothing that out holds, such as a link, can lead elsewhere.
func openOut(out, dir string) (*os.Root, error) {
	if !fs.ValidPath(dir) {
		return nil, invalid("the folder %s is not below %s", dir, out)
	}
	if err := makeOut(out); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, invalid("cannot open the output folder %s: %v", out, reason(err))
	}
	if dir == "." {
		return root, nil
	}
	defer root.Close()
	if err := makeFolder(root, dir); err != nil {
		return nil, err
	}
	return root.OpenRoot(dir)
}

// makeFolder makes a folder, and syncs those that hold it.
func makeFolder(root *os.Root, dir string) error {
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return invalid("cannot make the folder %s in %s: %v", dir, root.Name(), reason(err))
	}
	for made := dir; made != "."; made = path.Dir(made) {
		if err := atomicfile.SyncFolder(root, path.Dir(made)); err != nil {
			return err
		}
	}
	return nil
}

// waitForLock locks the folder, so that all files in it are of one run. If another run has the lock, of this process
// or another, it calls waits once and waits. Closing the file, or the end of the process, releases the lock. On a
// file system without locks it does not wait.
func waitForLock(ctx context.Context, dir *os.Root, waits func()) (*os.File, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	for first := true; errors.Is(filelock.Try(f), syscall.EWOULDBLOCK); first = false {
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
