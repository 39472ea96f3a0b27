package lmstxt

import (
	"context"
	"errors"
	"io/fs"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Config is what the tools are made of.
type Config struct {
	// Files opens the folder that the files of whoever calls in the context are below; who opened it closes it. Where it
	// is not there (fs.ErrNotExist) there are no files. Callers that have a folder each do not see each other's files,
	// and no link is followed. The job generate has to write below it, and its input has to name its folder, out,
	// relative to it.
	Files func(ctx context.Context) (Files, error)
	// Shown is what the paths of files begin with in the records of runs: the folder's own path, for callers on the same
	// machine. If empty they are relative to the folder.
	Shown string
	// Named, which may be nil, is what the inputs of runs call the repository that a caller names: "" where that cannot
	// be told without asking the network.
	Named func(repository string) string
	// Folders, which may be nil, are those below out that the repository's files may be in: none where that cannot be
	// told without asking the network.
	Folders func(ctx context.Context, repository string) []string
}

// Files are those of one caller.
type Files interface {
	fs.FS
	Close() error
}

// door is what the tools share.
type door struct {
	*mcp.Server
	files     func(ctx context.Context) (Files, error)
	shown     string
	named     func(repository string) string
	foldersOf func(ctx context.Context, repository string) []string
	stream    func(ctx context.Context, id messages.RunID) (*mcp.Result, error)
	failed    error // what could not be added
}

// RegisterGenerate adds the tool of the job generate with prompts for its use.
func RegisterGenerate(s *mcp.Server) error {
	addPrompts(s)
	s.AddChanges(mcp.Changes{File: fileOf})
	return s.AddJob(mcp.JobTool{Job: generateJob})
}

// Register adds the tools lmstxt_* and their resources to a server that has generate.
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

func addTool[A any](d *door, t mcp.Tool, call func(ctx context.Context, arguments A) (*mcp.Result, error)) {
	d.failed = errors.Join(d.failed, mcp.AddTool(d.Server, t, call))
}
