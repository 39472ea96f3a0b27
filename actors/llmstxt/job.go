package llmstxt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
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
	g.repo, err = scan.Read(ctx, root.FS(), scan.Limits{}, func(done int) { t.Progress(int64(done), 0, "entries") })
	if err != nil {
		return limit(err)
	}
	g.repo.Name, _, _ = strings.Cut(filepath.Base(g.input.Repository), "@") // without a module cache's version
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
	g.index, err = rank.Build(ctx, root.FS(), g.repo, rank.Caps{}, func(done, total int) {
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
