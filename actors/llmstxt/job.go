package llmstxt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
	"github.com/seed889630bf/lastword/messages"
)

// Name is the job's name.
const Name = "generate"

// Input is what the job is asked for.
type Input struct {
	// Repository is the folder to read.
	Repository string `json:"repository"`
	// Out is the folder to write under; it is made where it is missing.
	Out string `json:"out"`
	// Full and Ctx ask for llms-full.txt and llms-ctx.txt beside llms.txt.
	Full bool `json:"full"`
	Ctx  bool `json:"ctx"`
}

// Result is the run's result.
type Result struct {
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"`
	// Folder is where the files are, slash-separated, relative to Input.Out.
	Folder string `json:"folder"`
	Files  int    `json:"files"`
	Links  int    `json:"links"`
	Commit string `json:"commit,omitempty"`
	Remote string `json:"remote,omitempty"`
}

// OriginOf says where a folder comes from; a folder without an origin is the zero Origin.
type OriginOf func(folder string) (scan.Origin, error)

// generation is what the tasks of one run share; each task begins after the one before it has returned.
type generation struct {
	input    Input
	originOf OriginOf
	repo     *scan.Repository
	index    *rank.Index
}

// Job returns the job for the input. Errors: invalid_input when the folder cannot be read.
func Job(in Input, originOf OriginOf) (actors.Job, error) {
	info, err := os.Stat(in.Repository)
	switch {
	case err != nil:
		return actors.Job{}, invalid("cannot read the folder %s: %v", in.Repository, reason(err))
	case !info.IsDir():
		return actors.Job{}, invalid("%s is not a folder; name the folder that holds the repository", in.Repository)
	case in.Out == "":
		return actors.Job{}, invalid("the output folder has no name")
	}
	if in.Repository, err = filepath.Abs(in.Repository); err != nil {
		return actors.Job{}, invalid("%v", err)
	}
	if in.Out, err = filepath.Abs(in.Out); err != nil {
		return actors.Job{}, invalid("%v", err)
	}
	g := &generation{input: in, originOf: originOf}
	return actors.Job{Name: Name, Input: in, Tasks: []actors.Task{
		{Name: "fetch", Run: g.fetch},
		{Name: "analyze", Run: g.analyze},
		{Name: "write", Run: g.write},
	}}, nil
}

func invalid(format string, args ...any) error {
	return messages.Errorf(messages.Code(messages.CauseInvalidInput), format, args...)
}

// reason is what went wrong with a path that the message around it names already.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		return at.Err
	}
	return err
}

func (g *generation) fetch(ctx context.Context, t *actors.TaskContext) error {
	root, err := os.OpenRoot(g.input.Repository)
	if err != nil {
		return invalid("cannot open the folder %s: %v", g.input.Repository, reason(err))
	}
	defer root.Close()
	if err := makeOut(g.input.Out); err != nil { // sooner than after all the reading
		return err
	}
	g.repo, err = scan.Read(ctx, root, scan.Limits{}, func(done int) { t.Progress(int64(done), 0, "entries") })
	if err != nil {
		return limit(err)
	}
	if g.repo.Origin, err = g.originOf(g.input.Repository); err != nil {
		t.Log(messages.LogWarn, "the origin is not known: "+err.Error())
	}
	g.repo.Files = slices.DeleteFunc(g.repo.Files, g.isOutput())
	for _, left := range g.repo.Left {
		t.Log(messages.LogInfo, fmt.Sprintf("left out, %s: %s, %s, first %s",
			left.Reason, count(left.Files, "file"), count(left.Folders, "folder"), left.First))
	}
	t.Summarize(gathered(g.repo))
	return nil
}

// isOutput tells the job's own files, where they go into the repository, so that a second run reads what the first did.
func (g *generation) isOutput() func(scan.File) bool {
	dir, base := folder(g.repo)
	inside, err := filepath.Rel(g.input.Repository, filepath.Join(g.input.Out, filepath.FromSlash(dir)))
	if err != nil {
		inside = ".."
	}
	return func(f scan.File) bool {
		in, name := path.Split(f.Path)
		return path.Clean(in) == filepath.ToSlash(inside) && strings.HasPrefix(strings.TrimPrefix(name, "."), base+"-llms")
	}
}

func gathered(repo *scan.Repository) string {
	words := "gathered " + count(len(repo.Files), "file")
	if c := repo.Origin.Commit; len(c) > 12 {
		words += " at " + c[:12]
	}
	return words
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func limit(err error) error {
	if over, ok := errors.AsType[*scan.LimitError](err); ok {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded), "%v", over)
	}
	return err
}

func (g *generation) analyze(ctx context.Context, t *actors.TaskContext) error {
	root, err := os.OpenRoot(g.input.Repository)
	if err != nil {
		return err
	}
	defer root.Close()
	g.index, err = rank.Build(ctx, root, g.repo, rank.Caps{}, func(done, total int) {
		t.Progress(int64(done), int64(total), "links")
	})
	if err != nil {
		return err
	}
	t.Summarize(fmt.Sprintf("%s in %s, without a model", count(links(g.index), "link"), count(len(g.index.Sections), "section")))
	return nil
}

func links(index *rank.Index) int {
	n := 0
	for _, s := range index.Sections {
		n += len(s.Links)
	}
	return n
}

// folder is where the files of a repository go, below the output folder.
func folder(repo *scan.Repository) (dir, base string) {
	base = fileName(repo.Name)
	dir = path.Join("local", base)
	if o := repo.Origin; o.Owner != "" {
		base = fileName(o.Repo)
		dir = path.Join(o.Owner, o.Repo)
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

func (g *generation) write(ctx context.Context, t *actors.TaskContext) error {
	source, err := os.OpenRoot(g.input.Repository)
	if err != nil {
		return err
	}
	defer source.Close()
	dir, base := folder(g.repo)
	out, err := openOut(g.input.Out, dir)
	if err != nil {
		return err
	}
	defer out.Close()
	if n := sweep(out, base+"-llms"); n > 0 {
		t.Log(messages.LogInfo, fmt.Sprintf("removed %s that earlier runs did not finish", count(n, "file")))
	}
	for _, f := range g.files(ctx, source) {
		if err := g.writeFile(ctx, t, out, path.Join(dir, base+"-"+f.name), f); err != nil {
			return fmt.Errorf("cannot write %s: %w", f.name, reason(err))
		}
	}
	t.Summarize("files in " + dir)
	return t.Result(g.result(dir), false)
}

func (g *generation) writeFile(ctx context.Context, t *actors.TaskContext, out *os.Root, name string, f file) error {
	data, err := f.bytes()
	if err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := place(out, path.Base(name), t.RunID(), data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	artifact := messages.Artifact{Name: f.name, Path: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	return t.Emit(messages.ArtifactWritten{Artifact: artifact}, fmt.Sprintf("%s written, %d bytes", f.name, len(data)))
}

func (g *generation) result(dir string) Result {
	return Result{Title: g.index.Title, Summary: g.index.Summary, Folder: dir, Files: len(g.repo.Files),
		Links: links(g.index), Commit: g.repo.Origin.Commit, Remote: g.repo.Origin.Remote}
}

// files lists what was asked for, llms.txt first.
func (g *generation) files(ctx context.Context, source *os.Root) []file {
	files := []file{{"llms.txt", func(w io.Writer) error { return render.Txt(w, g.index) }, checkTxt}}
	if g.input.Full {
		files = append(files, file{"llms-full.txt", func(w io.Writer) error {
			return render.Full(ctx, w, source, g.index, render.Bounds{})
		}, nil})
	}
	if g.input.Ctx {
		files = append(files, file{"llms-ctx.txt", func(w io.Writer) error {
			return render.Ctx(ctx, w, source, g.index, render.Bounds{})
		}, checkXML})
	}
	return files
}
