package llmstxt

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

// folder is where the files of a repository go, below the output folder. A part of one has a folder of its own.
func (g *generation) folder() (dir, base string) { return g.material.folder() }

// Folder is where the files of the material go, slash-separated, below the output folder.
func (m *Material) Folder() string {
	dir, _ := m.folder()
	return dir
}

func (m *Material) folder() (dir, base string) {
	base = fileName(m.Name)
	dir = path.Join("local", base)
	if o := m.Origin; o.Owner != "" {
		base = fileName(o.Repo)
		dir = path.Join(o.Owner, o.Repo)
		for part := range strings.SplitSeq(o.Prefix, "/") {
			if part != "" {
				base = fileName(part)
				dir = path.Join(dir, base)
			}
		}
	}
	return dir, base
}

// fileName makes a name safe to begin a file name with.
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

// isOutput tells the job's own files, where they go into the repository, so that a second run reads what the first did.
func (g *generation) isOutput() func(scan.File) bool {
	if g.at.Kind != address.Folder {
		return func(scan.File) bool { return false }
	}
	dir, base := g.folder()
	inside, err := filepath.Rel(g.at.Path, filepath.Join(g.input.Out, filepath.FromSlash(dir)))
	if err != nil {
		inside = ".."
	}
	return func(f scan.File) bool {
		in, name := path.Split(f.Path)
		return path.Clean(in) == filepath.ToSlash(inside) && strings.HasPrefix(strings.TrimPrefix(name, "."),
			base+"-llms") || isGraphFile(filepath.ToSlash(inside), f.Path)
	}
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

func syncFolder(dir *os.Root, name string) error {
	d, err := dir.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
