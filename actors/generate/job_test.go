package generate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// sample makes the folder "garden" with a few files, and whatever else is given.
func sample(t *testing.T, more map[string]string) string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"README.md":     "# Garden\n\nGrows things.\n\nSee [the guide](docs/guide.md).\n",
		"docs/guide.md": "# Guide\n\nHow to grow things.\n",
		"go.mod":        "module example.com/garden\n\ngo 1.26\n",
		"garden.go":     "// Package garden grows things.\npackage garden\n\n// Grow grows.\nfunc Grow() {}\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	for name, text := range more {
		tree[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	dir := filepath.Join(t.TempDir(), "garden")
	must(t, os.CopyFS(dir, tree))
	return dir
}

var nowhere source.Repository

func from(remote, commit string) source.Repository {
	return source.Repository{Remote: remote, Commit: commit}
}

// folder opens local folders and says where they are from.
func folder(origin source.Repository) generate.Config {
	return generate.Config{Open: func(_ context.Context, at source.Address) (*source.Repository, error) {
		return &source.Repository{Name: filepath.Base(at.Path), Remote: origin.Remote, Commit: origin.Commit, Folder: origin.Folder, Read: func(context.Context, func(done, total int64)) (fs.FS, error) {
			root, err := os.OpenRoot(at.Path)
			if err != nil {
				return nil, messages.InvalidInput("cannot open the folder: %v", err)
			}
			return confined.TreeOf(root), nil
		}}, nil
	}}
}

func all(repository, out string) generate.Input {
	return generate.Input{Repository: repository, Out: out, Options: llmstxt.Options{Ctx: true}}
}

// only asks for llms.txt and llms.json.
func only(repository, out string) generate.Input {
	return generate.Input{Repository: repository, Out: out, Options: llmstxt.Options{Full: llmstxt.FullNone}}
}

func newJob(t *testing.T, in generate.Input, origin source.Repository) actors.Job {
	t.Helper()
	job, err := generate.Job(in, folder(origin))
	must(t, err)
	return job
}

func open(t *testing.T, config actors.Config) *actors.System {
	t.Helper()
	s, err := actors.New(t.Context(), config)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func start(t *testing.T, s *actors.System, job actors.Job) *actors.Run {
	t.Helper()
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	return run
}

// end runs the job to its end.
func end(t *testing.T, job actors.Job) messages.State {
	t.Helper()
	return wait(t, start(t, open(t, actors.Config{}), job))
}

func wait(t *testing.T, run *actors.Run) messages.State {
	t.Helper()
	state, err := run.Wait(t.Context())
	must(t, err)
	return state
}

func completed(t *testing.T, job actors.Job) messages.State {
	t.Helper()
	state := end(t, job)
	if state.Status != messages.Completed {
		t.Fatalf("%s: %+v", state.Status, state.End.Error)
	}
	return state
}

// failed checks that the run failed for the cause, and returns the reason.
func failed(t *testing.T, job actors.Job, cause messages.Code) string {
	t.Helper()
	state := end(t, job)
	if state.Status != messages.Failed || state.End.Cause != cause {
		t.Fatalf("%s, %+v, want a failure with %s", state.Status, state.End, cause)
	}
	return state.End.Error.Message
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return string(data)
}

// tree maps the files below the folder, by slash-separated paths, to what they hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = read(t, name)
		return err
	})
	must(t, err)
	return files
}

func names(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// found is what package rank answers for.
var found = regexp.MustCompile(`[1-9][0-9]* links? in [1-9][0-9]* sections?`)

func TestMilestones(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	job := newJob(t, all(sample(t, nil), t.TempDir()), from("git@example.com:plants/garden.git", commit))
	run := start(t, open(t, actors.Config{}), job)
	var lines []string
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		if e.IsDelta() {
			continue
		}
		words := e.Message
		if e.Kind() == messages.KindArtifactWritten {
			words, _, _ = strings.Cut(words, ",") // how many bytes is another test's
		}
		words = found.ReplaceAllString(words, "N links in N sections")
		lines = append(lines, string(e.Kind())+": "+words)
	}
	same(t, "milestones", lines, []string{
		"run.queued: generate queued",
		"run.started: generate started",
		"task.started: fetch started",
		"task.completed: fetch completed: gathered 4 files at 0123456789ab",
		"task.started: analyze started",
		"task.completed: analyze completed: N links in N sections, without a model",
		"task.started: write started",
		"artifact.written: llms.txt written",
		"artifact.written: llms-full.txt written",
		"artifact.written: llms-ctx.txt written",
		"artifact.written: llms.json written",
		"task.completed: write completed: files in example.com/plants/garden",
		"run.completed: generate completed",
	})
}

func TestArtifactsAreTheFiles(t *testing.T) {
	out := t.TempDir()
	state := completed(t, newJob(t, all(sample(t, nil), out), from("https://example.com/plants/garden", "")))
	var said []string
	for _, a := range state.Artifacts {
		data := read(t, filepath.Join(out, filepath.FromSlash(a.Path)))
		sum := sha256.Sum256([]byte(data))
		if a.Bytes != int64(len(data)) || a.SHA256 != hex.EncodeToString(sum[:]) || a.Partial {
			t.Errorf("%+v, but the file has %d bytes and the digest %x", a, len(data), sum)
		}
		said = append(said, a.Name+" "+a.Path)
	}
	same(t, "artifacts", said, []string{
		"llms.txt example.com/plants/garden/llms.txt",
		"llms-full.txt example.com/plants/garden/llms-full.txt",
		"llms-ctx.txt example.com/plants/garden/llms-ctx.txt",
		"llms.json example.com/plants/garden/llms.json",
	})
	same(t, "files", names(tree(t, out)), []string{
		"example.com/plants/garden/llms-ctx.txt", "example.com/plants/garden/llms-full.txt", "example.com/plants/garden/llms.json", "example.com/plants/garden/llms.txt"})
}

func TestResult(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	out := t.TempDir()
	state := completed(t, newJob(t, all(sample(t, nil), out), from("https://example.com/plants/garden", commit)))
	var result generate.Result
	must(t, json.Unmarshal(state.End.Result, &result))
	text := read(t, filepath.Join(out, "example.com", "plants", "garden", "llms.txt"))
	if !strings.Contains(text, "\n> "+result.Summary+"\n") {
		t.Errorf("the summary %q is not the file's:\n%s", result.Summary, text)
	}
	want := generate.Result{Title: "Garden", Summary: result.Summary, Folder: "example.com/plants/garden", Files: 4,
		Links: strings.Count(text, "\n- ["), Symbols: result.Symbols, Commit: commit, Remote: "https://example.com/plants/garden",
		TokenBudget: llmstxt.DefaultTokens}
	if result != want {
		t.Errorf("result %+v, want %+v", result, want)
	}
}

func TestOnlyWhatIsAskedFor(t *testing.T) {
	out := t.TempDir()
	completed(t, newJob(t, only(sample(t, nil), out), nowhere))
	same(t, "files", names(tree(t, out)), []string{"local/garden/llms.json", "local/garden/llms.txt"})
}

func TestSameFolderSameBytes(t *testing.T) {
	dir, once, again := sample(t, nil), t.TempDir(), filepath.Join(t.TempDir(), "made", "on the way")
	completed(t, newJob(t, all(dir, once), nowhere))
	completed(t, newJob(t, all(dir, again), nowhere))
	first, second := tree(t, once), tree(t, again)
	same(t, "files", names(second), names(first))
	for name, text := range first {
		if strings.ReplaceAll(second[name], pathTo(t, again, dir), pathTo(t, once, dir)) != text {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// pathTo is what llms.json says of where the local repository is.
func pathTo(t *testing.T, out, repository string) string {
	t.Helper()
	way, err := filepath.Rel(filepath.Join(out, "local", "garden"), repository)
	must(t, err)
	return filepath.ToSlash(way)
}

func TestUnusableInput(t *testing.T) {
	dir := sample(t, nil)
	for what, in := range map[string]generate.Input{
		"no such folder": all(filepath.Join(dir, "nope"), "out"),
		"a file":         all(filepath.Join(dir, "go.mod"), "out"),
		"no output":      all(dir, ""),
		"no layout":      {Repository: dir, Out: "out", Layout: "round"},
	} {
		if _, err := generate.Job(in, folder(nowhere)); messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%s: %v, want invalid input", what, err)
		}
	}
	config := folder(nowhere)
	config.File = "../llms.txt"
	if _, err := generate.Job(all(dir, "out"), config); messages.CodeOf(err) != "invalid_input" {
		t.Errorf("a file elsewhere: %v", err)
	}
}

func TestFolderGoneBeforeTheRun(t *testing.T) {
	dir := sample(t, nil)
	job := newJob(t, all(dir, t.TempDir()), nowhere)
	must(t, os.RemoveAll(dir))
	failed(t, job, messages.CauseInvalidInput)
}

func TestOutputBelowAFile(t *testing.T) {
	dir := sample(t, nil)
	why := failed(t, newJob(t, all(dir, filepath.Join(dir, "go.mod", "out")), nowhere), messages.CauseInvalidInput)
	if !strings.Contains(why, "output folder") {
		t.Errorf("the reason does not name the output folder: %s", why)
	}
}

func TestWarningIsLogged(t *testing.T) {
	out := t.TempDir()
	config := folder(nowhere)
	open := config.Open
	config.Open = func(ctx context.Context, at source.Address) (*source.Repository, error) {
		material, err := open(ctx, at)
		material.Warning = "the index is torn"
		return material, err
	}
	job, err := generate.Job(only(sample(t, nil), out), config)
	must(t, err)
	state := completed(t, job)
	logged := slices.ContainsFunc(state.Log.Lines, func(l messages.LogLine) bool {
		return l.Level == messages.LogWarn && strings.Contains(l.Text, "the index is torn")
	})
	if !logged {
		t.Errorf("no warning among %+v", state.Log.Lines)
	}
}

// Issue: "streamed as text.delta with the field's text", and closed by what the files say.
func TestFieldsAreStreamed(t *testing.T) {
	run := start(t, open(t, actors.Config{}), asking(t, modeled(sample(t, nil), t.TempDir()), oracleOf(says(description))))
	said, done := map[string]string{}, map[string]string{}
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		bodies := []messages.Body{e.Body}
		if m, ok := e.Body.(messages.Merged); ok {
			bodies = m.Parts
		}
		for _, body := range bodies {
			switch b := body.(type) {
			case messages.TextDelta:
				said[b.Stream] += b.Text
			case messages.TextDone:
				done[b.Stream] = b.Text
			}
		}
	}
	want := map[string]string{
		"purpose": "Garden grows things in rows and beds for people who write Go.",
		"notes":   "docs/guide.md: How to begin.\nnonsense.md: Not there.\ngarden.go: Beats Redis.",
	}
	for stream, text := range want {
		if said[stream] != text {
			t.Errorf("%s: said %q, want %q", stream, said[stream], text)
		}
		if !strings.HasPrefix(text, done[stream]) || done[stream] == "" {
			t.Errorf("%s: closed with %q", stream, done[stream])
		}
	}
}
