package generate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "generate"

// generation is shared by the tasks of a run: the request, and what outlasts the run.
type generation struct {
	input  Input
	at     source.Address
	config Config
	cache  cache
	finder finder
}

// Job returns the job for the input. Errors: invalid_input.
func Job(in Input, config Config) (actors.Job, error) {
	if err := config.check(); err != nil {
		return actors.Job{}, err
	}
	in, address, err := in.check(config)
	if err != nil {
		return actors.Job{}, err
	}
	if in.NoCache {
		config.Cache = ""
	}
	answers := cache{config.Cache, config.Secrets}
	g := &generation{input: in, at: address, config: config, cache: answers, finder: finder{config.Model, in.Model, nil, nil}}
	return actors.Job{Name: Name, Input: in, Tasks: g.tasks(), Restart: true}, nil
}

// tasks returns the job's tasks. Variables pass the result of each task to the next.
func (g *generation) tasks() []actors.Task {
	var (
		got   fetched
		about *llmstxt.Analysis // nil if there is a cached result
		by    consulted
	)
	fetch := func(ctx context.Context, t *actors.TaskContext) (err error) {
		got, err = g.fetch(ctx, t)
		return err
	}
	configure := func(ctx context.Context, t *actors.TaskContext) (err error) {
		by, err = g.configure(ctx, t)
		return err
	}
	analyze := func(ctx context.Context, t *actors.TaskContext) (err error) {
		about, err = g.analyze(ctx, t, got)
		return err
	}
	understand := func(ctx context.Context, t *actors.TaskContext) (err error) {
		about, by, err = g.understand(ctx, t, got, about, by)
		return err
	}
	write := func(ctx context.Context, t *actors.TaskContext) error { return g.write(ctx, t, got, about, by) }
	if g.input.Model == "" {
		return []actors.Task{{Name: "fetch", Run: fetch}, {Name: "analyze", Run: analyze}, {Name: "write", Run: write}}
	}
	once := supervision.Policy{Attempts: 1} // the client retries, and a rejected answer is requested again
	return []actors.Task{{Name: "fetch", Run: fetch}, {Name: "configure", Run: configure, Policy: once},
		{Name: "analyze", Run: analyze}, {Name: "understand", Run: understand, Policy: once}, {Name: "write", Run: write}}
}

// reason returns the error without its path, for messages that name the path already.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}

// fetched is the result of the task fetch.
type fetched struct {
	out      string // the folder below which the files go
	material *source.Repository
	hit      *cached // if not nil, no repository was read
	repo     *llmstxt.Repository
}

// fetch is the task fetch. It tries the output folder before anything is downloaded, and reads nothing if the cache
// has the result.
func (g *generation) fetch(ctx context.Context, t *actors.TaskContext) (got fetched, err error) {
	got.out = g.input.Out
	if g.config.Folder != nil {
		if got.out, err = g.config.Folder(t.Principal(), g.input.Out); err != nil {
			return got, err
		}
	}
	out, err := openOut(got.out, ".") // before the repository is read
	if err != nil {
		return got, err
	}
	out.Close()
	if got.material, err = g.config.Open(ctx, g.at); err != nil {
		return got, err
	}
	m := got.material
	warn(t, m)
	if got.hit = g.cache.find(g.key(ctx, m)); got.hit != nil {
		t.Summarize("found in the cache" + at(m))
		return got, nil
	}
	files, err := m.Read(ctx, func(done, total int64) { t.Progress(done, total, "bytes") })
	if err != nil {
		return got, err
	}
	warn(t, m)
	got.repo, err = llmstxt.Read(ctx, files, g.source(m, got.out), g.input.Options, caller(t))
	if err != nil {
		return got, err
	}
	t.Summarize("gathered " + words.Count(got.repo.Len(), "file") + at(m))
	return got, nil
}

// warn logs the warning of the material once.
func warn(t *actors.TaskContext, m *source.Repository) {
	if m.Warning != "" {
		t.Log(messages.LogWarn, m.Warning)
	}
	m.Warning = ""
}

// source describes the origin of the files. With a single output file outside of the repository, links are relative
// to that file.
func (g *generation) source(m *source.Repository, out string) llmstxt.Source {
	from := llmstxt.Source{Name: m.Name, Origin: originOf(m), Skip: g.place(m, out).isOutput(), Tracked: m.Tracked, Limits: g.config.Limits}
	if g.config.File != "" && g.at.Kind == source.Folder {
		if way := relativeURL(out, g.at.Path); way != "." {
			from.Base = way
		}
	}
	return from
}

// caller connects the library to the task: goroutines, progress and log.
func caller(t *actors.TaskContext) llmstxt.Caller {
	return llmstxt.Caller{Go: t.Go,
		Progress: func(done, total int64, unit string) { t.Progress(done, total, unit) },
		Info:     func(text string) { t.Log(messages.LogInfo, text) },
		Warn:     func(text string) { t.Log(messages.LogWarn, text) }}
}

func at(m *source.Repository) string {
	if o := originOf(m); len(o.Commit) > 12 {
		return " at " + o.Commit[:12]
	}
	return ""
}

// analyze is the task analyze. It returns nil if the result came from the cache.
func (g *generation) analyze(ctx context.Context, t *actors.TaskContext, got fetched) (*llmstxt.Analysis, error) {
	if got.hit != nil {
		t.Summarize("taken from the cache")
		return nil, nil
	}
	about, err := got.repo.Analyze(ctx, caller(t))
	if err != nil {
		return nil, err
	}
	stats := about.Stats()
	summary := fmt.Sprintf("%s in %s", words.Count(stats.Links, "link"), words.Count(stats.Sections, "section"))
	if g.input.Graph {
		summary += ", " + words.Count(stats.Packages, "package")
	}
	if g.input.Model == "" {
		summary += ", without a model"
		if !stats.Described {
			t.Log(messages.LogWarn, "no text says what the project is: begin the README with a sentence such as \"NAME is …\", or add a line \"> …\" to llms.txt")
		}
	}
	t.Summarize(summary)
	return about, nil
}
