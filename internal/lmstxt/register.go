package lmstxt

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Config configures the tools. Only Files is required.
type Config struct {
	// Files opens the folder of the caller in the context. It must return fs.ErrNotExist if the folder does not exist.
	// If each caller has its own folder, callers do not see each other's files; links are not followed. The job
	// generate must write below this folder, and the member "out" of its input must be relative to it.
	Files func(ctx context.Context) (Files, error)
	// Shown is the prefix of file paths in results: the absolute path of the folder, for callers on the same machine.
	// "" means relative paths.
	Shown string
	// Named, if not nil, returns the name that inputs of runs use for a repository, or "" if that cannot be known
	// without network access.
	Named func(repository string) string
	// Folders, if not nil, returns the folders below out that may hold the repository's files, or none if that cannot
	// be known without network access.
	Folders func(ctx context.Context, repository string) []string
}

// Files are the files of one caller.
type Files interface {
	fs.FS
	Close() error
}

// door is what the tools share: the server, and the fields of Config. It does not change after Register.
type door struct {
	*mcp.Server
	files     func(ctx context.Context) (Files, error)
	shown     string // the path of the root folder as clients see it
	named     func(repository string) string
	foldersOf func(ctx context.Context, repository string) []string
	stream    func(ctx context.Context, id messages.RunID) (*mcp.Result, error)
	failed    error // the errors of adding tools and resources
}

// RegisterGenerate adds the job generate as a tool, with prompts that use it.
func RegisterGenerate(s *mcp.Server) error {
	addPrompts(s)
	s.AddChanges(mcp.Changes{File: fileOf})
	return s.AddJob(mcp.JobTool{Job: generateJob})
}

// Register adds the tools lmstxt_* and their resources. The server must have the tool generate.
func Register(s *mcp.Server, c Config) error {
	if c.Files == nil {
		return errors.New("the lmstxt tools need a folder")
	}
	if !s.HasTool(generateTool) {
		return errors.New("the lmstxt tools need the tool generate")
	}
	d := &door{Server: s, files: c.Files, shown: c.Shown, named: c.Named, foldersOf: c.Folders}
	d.stream = s.AddStream("lmstxt", d.ended)
	if d.named == nil {
		d.named = func(string) string { return "" }
	}
	if d.foldersOf == nil {
		d.foldersOf = func(context.Context, string) []string { return nil }
	}
	d.addGenerators()
	d.addLists()
	d.addReaders()
	d.addResources()
	d.AddChanges(mcp.Changes{Artifact: artifactOf, Files: filesOf})
	return d.failed
}

// addTool adds a tool, and keeps the error in d.failed.
func addTool[A any](d *door, t mcp.Tool, call func(ctx context.Context, arguments A) (*mcp.Result, error)) {
	t.Lenient = true // as the earlier server's tools were
	d.failed = errors.Join(d.failed, mcp.AddTool(d.Server, t, call))
}

const (
	generateTool = "generate"
	generateJob  = "generate"
)

// isPage reports whether the artifact is the page of one package. A graph can have thousands of them.
func isPage(a messages.Artifact) bool { return strings.Contains(a.Name, "/") }

// rootName is the earlier server's name for its root folder.
const rootName = "artifacts"

// local returns a folder relative to the root, which the earlier server named "./artifacts".
func local(dir string) (string, error) {
	clean, below := strings.CutPrefix(path.Clean(filepath.ToSlash(dir)), rootName+"/")
	if clean == "." || clean == rootName && !below {
		return "", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", messages.InvalidInput("the folder %s is not below your folder on the server; "+
			"give a relative path without ..", dir)
	}
	return clean, nil
}

// local is also able to map an absolute path, if callers are shown those.
func (d *door) local(dir string) (string, error) {
	if d.shown != "" && filepath.IsAbs(dir) {
		if below, err := filepath.Rel(d.shown, dir); err == nil && filepath.IsLocal(below) {
			return local(path.Join(rootName, filepath.ToSlash(below)))
		}
	}
	return local(dir)
}
