package generate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/tokens"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the job's name.
const Name = "generate"

// Result is the run's result.
type Result struct {
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"`
	// Folder is where the files are, slash-separated, relative to Input.Out.
	Folder string `json:"folder"`
	Files  int    `json:"files"`
	Links  int    `json:"links"`
	// Symbols counts the exported names that llms.json lists.
	Symbols int `json:"symbols"`
	// Packages counts the packages of the repository in the graph.
	Packages int `json:"packages,omitempty"`
	// Dropped counts the links and files that did not fit the budget.
	Dropped int `json:"dropped,omitempty"`
	// TokenBudget is the most tokens of llms-full.txt and of llms-ctx.txt.
	TokenBudget int64 `json:"token_budget,omitempty"`
	// Secrets counts the secrets that were redacted.
	Secrets int `json:"secrets,omitempty"`
	// Tokens are those of llms-full.txt, if they were asked for.
	Tokens int    `json:"tokens,omitempty"`
	Commit string `json:"commit,omitempty"`
	Remote string `json:"remote,omitempty"`
	// Cached says that the files are those of an earlier run.
	Cached bool `json:"cached,omitempty"`
	// Model is the model that answered, else the one that was asked.
	Model string `json:"model,omitempty"`
	// Degraded says that the model failed, and that the files were written without it. Cause says why.
	Degraded bool           `json:"degraded,omitempty"`
	Cause    messages.Cause `json:"degraded_cause,omitempty"`
}

// generation is the state of one run. Its tasks run one after the other.
type generation struct {
	input    Input
	at       address.Address
	config   Config
	material *Material
	files    fs.FS
	repo     *scan.Repository
	index    *rank.Index
	graph    *graph.Graph // nil if not asked for
	document render.Document
	secrets  secret.Report
	mu       sync.Mutex          // guards dropped and tokens while files are written side by side
	dropped  map[string][]string // files that the budget had no room for, by artifact
	tokens   tokenCounts
	cache    cache
	hit      *cached // if not nil, there are neither files nor an index
	model    *Model
	unfound  error  // why there is no model
	other    string // the model that answered in place of the one that was asked, or ""
	insight  insight.Answer
	degraded messages.Cause // why the model failed, or ""
}

// Job returns the job for the input. Errors: invalid_input.
func Job(in Input, config Config) (actors.Job, error) {
	in, at, err := in.check()
	if err != nil {
		return actors.Job{}, err
	}
	if in.Model != "" && config.Model == nil {
		return actors.Job{}, invalid("no model %s can be found here; leave the model out", in.Model)
	}
	g := &generation{input: in, at: at, config: config, cache: cache{config.Cache, config.Secrets},
		dropped: map[string][]string{}, tokens: tokenCounts{files: map[string]int{}, artifacts: map[string]int{}}}
	g.tokens.Earlier = func() []byte { return g.cache.read(countsFile) }
	return actors.Job{Name: Name, Input: in, Tasks: g.tasks(), Restart: true}, nil
}

func (g *generation) tasks() []actors.Task {
	fetch := actors.Task{Name: "fetch", Run: g.fetch}
	analyze := actors.Task{Name: "analyze", Run: g.analyze}
	write := actors.Task{Name: "write", Run: g.write}
	if g.input.Model == "" {
		return []actors.Task{fetch, analyze, write}
	}
	once := supervision.Policy{Attempts: 1} // the client retries, and a rejected answer is asked for again
	return []actors.Task{fetch, {Name: "configure", Run: g.configure, Policy: once}, analyze,
		{Name: "understand", Run: g.understand, Policy: once}, write}
}

// reason is the error without the path, for messages that name the path already.
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
	if err := makeOut(g.input.Out); err != nil { // before the repository is read
		return err
	}
	var err error
	if g.material, err = g.config.Open(ctx, g.at); err != nil {
		return err
	}
	g.warn(t)
	if g.hit = g.cache.find(g.key(ctx)); g.hit != nil {
		t.Summarize("found in the cache" + at(g.material.Origin))
		return nil
	}
	g.files, err = g.material.Read(ctx, func(done, total int64) { t.Progress(done, total, "bytes") })
	if err != nil {
		return err
	}
	g.warn(t)
	return g.scan(ctx, t)
}

// warn logs the warning of the material once.
func (g *generation) warn(t *actors.TaskContext) {
	if g.material.Warning != "" {
		t.Log(messages.LogWarn, g.material.Warning)
	}
	g.material.Warning = ""
}

func (g *generation) scan(ctx context.Context, t *actors.TaskContext) (err error) {
	g.files = scan.Remember(g.files)
	g.repo, err = scan.Read(ctx, g.files, g.input.limits(), func(done int) { t.Progress(int64(done), 0, "entries") })
	if err != nil {
		return limit(err)
	}
	g.repo.Name, g.repo.Origin = g.material.Name, g.material.Origin
	g.repo.Files = slices.DeleteFunc(g.repo.Files, g.isOutput())
	for _, left := range g.repo.Left {
		t.Log(messages.LogInfo, fmt.Sprintf("skipped, %s: %s, %s, first %s",
			left.Reason, prose.Count(left.Files, "file"), prose.Count(left.Folders, "folder"), left.First))
	}
	if len(g.repo.Files) == 0 {
		return nothing(g.repo)
	}
	t.Summarize("gathered " + prose.Count(len(g.repo.Files), "file") + at(g.repo.Origin))
	return nil
}

// nothing is the error for a repository without a readable file.
func nothing(repo *scan.Repository) error {
	var why []string
	for _, left := range repo.Left {
		why = append(why, fmt.Sprintf("%s: %s", left.Reason, left.First))
	}
	if len(why) == 0 {
		return invalid("the repository is empty; name a folder that holds text files")
	}
	return invalid("the repository has no text file to read (%s)", strings.Join(why, ", "))
}

func at(o scan.Origin) string {
	if len(o.Commit) > 12 {
		return " at " + o.Commit[:12]
	}
	return ""
}

func limit(err error) error {
	if over, ok := errors.AsType[*scan.LimitError](err); ok {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded), "%v", over)
	}
	return err
}

func (g *generation) analyze(ctx context.Context, t *actors.TaskContext) (err error) {
	if g.hit != nil {
		t.Summarize("taken from the cache")
		return nil
	}
	if g.willCount() {
		t.Go(func(context.Context) error { tokens.Load(); return nil })
	}
	g.index, err = rank.Build(ctx, g.files, g.repo, g.linking(t), func(done, total int) {
		t.Progress(int64(done), int64(total), "links")
	})
	if err != nil {
		return err
	}
	g.keepExisting(t)
	links, _ := count(g.index)
	words := fmt.Sprintf("%s in %s", prose.Count(links, "link"), prose.Count(len(g.index.Sections), "section"))
	if g.input.Graph {
		if err := g.relate(ctx, t); err != nil {
			return err
		}
		words += ", " + prose.Count(g.graph.Stats.Packages, "package")
	}
	if g.input.Model == "" {
		words += ", without a model"
	}
	t.Summarize(words)
	return nil
}

// willCount reports whether tokens are likely to be counted: a text has no more of them than bytes.
func (g *generation) willCount() bool {
	size := int64(0)
	for _, f := range g.repo.Files {
		size += f.Size
	}
	return (g.input.Full != FullNone || g.input.Ctx) && g.input.TokenBudget > 0 && size > g.input.TokenBudget
}

// linking returns the options for links. Links of a single file outside the repository are relative to that file.
func (g *generation) linking(t *actors.TaskContext) rank.Options {
	o := rank.Options{LinkStyle: g.input.LinkStyle, Ref: g.input.Ref, BaseURL: g.input.BaseURL, Go: t.Go}
	if g.input.File != "" && g.at.Kind == address.Folder && o.BaseURL == "" {
		if way := relativeURL(g.input.Out, g.at.Path); way != "." {
			o.BaseURL = way
		}
	}
	return o
}

func count(index *rank.Index) (links, symbols int) {
	for _, s := range index.Sections {
		links += len(s.Links)
		for _, l := range s.Links {
			symbols += len(l.Symbols)
		}
	}
	return links, symbols
}
