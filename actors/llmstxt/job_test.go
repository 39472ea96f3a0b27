package llmstxt_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
	"github.com/seed889630bf/lastword/messages"
)

// repository makes the folder "garden" with a few files, and whatever else is given.
func repository(t *testing.T, more map[string]string) string {
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
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

func nowhere(string) (scan.Origin, error) { return scan.Origin{}, nil }

func from(remote, commit string) llmstxt.OriginOf {
	return func(string) (scan.Origin, error) { return scan.ParseOrigin(remote, commit, ""), nil }
}

func all(repository, out string) llmstxt.Input {
	return llmstxt.Input{Repository: repository, Out: out, Full: true, Ctx: true}
}

func newJob(t *testing.T, in llmstxt.Input, origin llmstxt.OriginOf) actors.Job {
	t.Helper()
	job, err := llmstxt.Job(in, origin)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func open(t *testing.T, config actors.Config) *actors.System {
	t.Helper()
	s, err := actors.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
func failed(t *testing.T, job actors.Job, cause messages.Cause) string {
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	job := newJob(t, all(repository(t, nil), t.TempDir()), from("git@example.com:plants/garden.git", commit))
	run := start(t, open(t, actors.Config{}), job)
	var lines []string
	for e, err := range run.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
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
		"task.completed: write completed: files in plants/garden",
		"run.completed: generate completed",
	})
}

func TestArtifactsAreTheFiles(t *testing.T) {
	out := t.TempDir()
	state := completed(t, newJob(t, all(repository(t, nil), out), from("https://example.com/plants/garden", "")))
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
		"llms.txt plants/garden/garden-llms.txt",
		"llms-full.txt plants/garden/garden-llms-full.txt",
		"llms-ctx.txt plants/garden/garden-llms-ctx.txt",
	})
	same(t, "files", names(tree(t, out)), []string{
		"plants/garden/garden-llms-ctx.txt", "plants/garden/garden-llms-full.txt", "plants/garden/garden-llms.txt"})
}

func TestResult(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	out := t.TempDir()
	state := completed(t, newJob(t, all(repository(t, nil), out), from("https://example.com/plants/garden", commit)))
	var result llmstxt.Result
	if err := json.Unmarshal(state.End.Result, &result); err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(out, "plants", "garden", "garden-llms.txt"))
	if !strings.Contains(text, "\n> "+result.Summary+"\n") {
		t.Errorf("the summary %q is not that of the file:\n%s", result.Summary, text)
	}
	want := llmstxt.Result{Title: "Garden", Summary: result.Summary, Folder: "plants/garden", Files: 4,
		Links: strings.Count(text, "\n- ["), Commit: commit, Remote: "https://example.com/plants/garden"}
	if result != want {
		t.Errorf("result %+v, want %+v", result, want)
	}
}

func TestOnlyWhatIsAskedFor(t *testing.T) {
	out := t.TempDir()
	completed(t, newJob(t, llmstxt.Input{Repository: repository(t, nil), Out: out}, nowhere))
	same(t, "files", names(tree(t, out)), []string{"local/garden/garden-llms.txt"})
}

func TestSameFolderSameBytes(t *testing.T) {
	dir, once, again := repository(t, nil), t.TempDir(), filepath.Join(t.TempDir(), "made", "on the way")
	completed(t, newJob(t, all(dir, once), nowhere))
	completed(t, newJob(t, all(dir, again), nowhere))
	first, second := tree(t, once), tree(t, again)
	same(t, "files", names(second), names(first))
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// The files may go into the repository, even among its documents: the next run does not read them.
func TestOutputInsideTheRepository(t *testing.T) {
	for _, out := range []string{"artifacts", ".", "docs"} {
		dir := repository(t, map[string]string{"docs/local/garden/weeds.md": "# Weeds\n\nHow to love them.\n"})
		in := all(dir, filepath.Join(dir, out))
		completed(t, newJob(t, in, nowhere))
		first := tree(t, dir)
		left := filepath.Join(in.Out, "local", "garden", ".garden-llms.txt.r_dead.tmp")
		if err := os.WriteFile(left, []byte("# Half"), 0o644); err != nil {
			t.Fatal(err)
		}
		completed(t, newJob(t, in, nowhere))
		for name, text := range tree(t, dir) {
			if first[name] != text {
				t.Errorf("into %s: %s is\n%s\nafter the second run, it was\n%s", out, name, text, first[name])
			}
		}
		if txt := filepath.Join(in.Out, "local", "garden", "garden-llms.txt"); !strings.Contains(read(t, txt), "weeds.md") {
			t.Errorf("into %s: the document beside the output is gone", out)
		}
	}
}

func TestLayout(t *testing.T) {
	for remote, want := range map[string]string{
		"":                                     "local/garden/garden-llms.txt",
		"../..":                                "local/garden/garden-llms.txt",
		"https://example.com/../../garden":     "local/garden/garden-llms.txt",
		"git@example.com:../../etc":            "local/garden/garden-llms.txt",
		"https://example.com/o/r.git":          "o/r/r-llms.txt",
		"git@example.com:group/sub/part/r.git": "group/sub/part/r/r-llms.txt",
		"https://example.com/o/.github":        "o/.github/github-llms.txt",
	} {
		out := t.TempDir()
		completed(t, newJob(t, llmstxt.Input{Repository: repository(t, nil), Out: out}, from(remote, "")))
		same(t, "files of "+remote, names(tree(t, out)), []string{want})
	}
}

func TestFolderWithAName(t *testing.T) {
	for name, want := range map[string]string{"a:b?": "local/a-b-/a-b--llms.txt", "..x": "local/x/x-llms.txt", "...": "local/repository/repository-llms.txt"} {
		dir, out := filepath.Join(t.TempDir(), name), t.TempDir()
		if err := os.Rename(repository(t, nil), dir); err != nil {
			t.Fatal(err)
		}
		completed(t, newJob(t, llmstxt.Input{Repository: dir, Out: out}, nowhere))
		same(t, "files of "+name, names(tree(t, out)), []string{want})
	}
}

func TestUnusableInput(t *testing.T) {
	dir := repository(t, nil)
	for what, in := range map[string]llmstxt.Input{
		"no such folder": all(filepath.Join(dir, "nope"), "out"),
		"a file":         all(filepath.Join(dir, "go.mod"), "out"),
		"no output":      all(dir, ""),
	} {
		if _, err := llmstxt.Job(in, nowhere); messages.CodeOf(err) != messages.Code(messages.CauseInvalidInput) {
			t.Errorf("%s: %v, want invalid input", what, err)
		}
	}
}

func TestFolderGoneBeforeTheRun(t *testing.T) {
	dir := repository(t, nil)
	job := newJob(t, all(dir, t.TempDir()), nowhere)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	failed(t, job, messages.CauseInvalidInput)
}

func TestOutputBelowAFile(t *testing.T) {
	dir := repository(t, nil)
	why := failed(t, newJob(t, all(dir, filepath.Join(dir, "go.mod", "out")), nowhere), messages.CauseInvalidInput)
	if !strings.Contains(why, "output folder") {
		t.Errorf("the reason does not name the output folder: %s", why)
	}
}

func TestNothingWithinTheLimits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep")
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 33)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.Repeat("d/", 33), "a.md"), []byte("# A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	failed(t, newJob(t, all(dir, t.TempDir()), nowhere), messages.CauseLimitExceeded)
}

func TestUnknownOriginIsLogged(t *testing.T) {
	out := t.TempDir()
	state := completed(t, newJob(t, llmstxt.Input{Repository: repository(t, nil), Out: out},
		func(string) (scan.Origin, error) { return scan.Origin{}, errors.New("the index is torn") }))
	logged := slices.ContainsFunc(state.Log.Lines, func(l messages.LogLine) bool {
		return l.Level == messages.LogWarn && strings.Contains(l.Text, "the index is torn")
	})
	if !logged {
		t.Errorf("no warning among %+v", state.Log.Lines)
	}
}

// An origin of the embedder's own making is no more trusted than a remote.
func TestOriginCannotLeadOut(t *testing.T) {
	for _, o := range []scan.Origin{{Owner: "../..", Repo: "x"}, {Owner: "..", Repo: "x"}, {Owner: "o", Repo: "../../../x"}} {
		around := t.TempDir()
		out := filepath.Join(around, "a", "out")
		failed(t, newJob(t, all(repository(t, nil), out), func(string) (scan.Origin, error) { return o, nil }),
			messages.CauseInvalidInput)
		same(t, "files around", names(tree(t, around)), nil)
	}
}

func TestLinksCannotLeadOut(t *testing.T) {
	out, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(out, "local")); err != nil {
		t.Fatal(err)
	}
	failed(t, newJob(t, all(repository(t, nil), out), nowhere), messages.CauseInvalidInput)
	same(t, "files elsewhere", names(tree(t, elsewhere)), nil)
}

func TestLinkUnderAFinalNameIsReplaced(t *testing.T) {
	out, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	link := filepath.Join(out, "local", "garden", "garden-llms.txt")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("precious"), 0o644), os.MkdirAll(filepath.Dir(link), 0o755),
		os.Symlink(elsewhere, link)); err != nil {
		t.Fatal(err)
	}
	completed(t, newJob(t, all(repository(t, nil), out), nowhere))
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() || read(t, elsewhere) != "precious" {
		t.Errorf("after the run: %v, %v, and elsewhere %q", info, err, read(t, elsewhere))
	}
}

// Who has the old file open goes on reading the old file.
func TestFilesAreReplacedNotRewritten(t *testing.T) {
	out := t.TempDir()
	name := filepath.Join(out, "local", "garden", "garden-llms.txt")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("old"), 0o644)); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	completed(t, newJob(t, all(repository(t, nil), out), nowhere))
	data, err := io.ReadAll(old)
	if err != nil || string(data) != "old" || !strings.HasPrefix(read(t, name), "# Garden\n") {
		t.Errorf("the old file reads %q (%v), the new one %q", data, err, read(t, name))
	}
}

func TestFolderUnderAFinalName(t *testing.T) {
	out := t.TempDir()
	if err := os.MkdirAll(filepath.Join(out, "local", "garden", "garden-llms-full.txt", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	state := end(t, newJob(t, all(repository(t, nil), out), nowhere))
	if state.Status != messages.Failed || len(state.Artifacts) != 1 || state.Artifacts[0].Name != "llms.txt" {
		t.Errorf("%s with %+v, want a failure after llms.txt", state.Status, state.Artifacts)
	}
	same(t, "files", names(tree(t, out)), []string{"local/garden/garden-llms.txt"})
}

func TestUnfinishedFilesAreSwept(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "local", "garden")
	keep := []string{".garden-llms.txt.r_living.tmp", ".garden.tmp", ".other-llms.txt.r_dead.tmp", "garden-llms.txt.tmp"}
	for _, name := range append(keep, ".garden-llms.txt.r_dead.tmp", ".garden-llms-ctx.txt.r_dead.tmp") {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	living, err := os.Open(filepath.Join(dir, keep[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer living.Close()
	if err := llmstxt.Lock(living); err != nil {
		t.Skip("files cannot be locked here, so none is swept")
	}
	completed(t, newJob(t, llmstxt.Input{Repository: repository(t, nil), Out: out}, nowhere))
	same(t, "files", names(tree(t, dir)), slices.Sorted(slices.Values(append(keep, "garden-llms.txt"))))
}

// Runs that write the same files at once sweep each other's folder; each must complete, and the files be whole.
func TestRunsIntoTheSameFolder(t *testing.T) {
	dir, out, alone := repository(t, nil), t.TempDir(), t.TempDir()
	completed(t, newJob(t, all(dir, alone), nowhere))
	s := open(t, actors.Config{})
	var runs []*actors.Run
	for range 8 {
		runs = append(runs, start(t, s, newJob(t, all(dir, out), nowhere)))
	}
	for _, run := range runs {
		if state := wait(t, run); state.Status != messages.Completed {
			t.Errorf("%s: %+v", state.Status, state.End.Error)
		}
	}
	want, got := tree(t, alone), tree(t, out)
	same(t, "files", names(got), names(want))
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is not what one run alone writes", name)
		}
	}
}

// onceThere is a context that has its run cancelled as soon as a file exists.
type onceThere struct {
	context.Context
	file   string
	cancel func()
	once   *atomic.Bool
}

func (c onceThere) Err() error {
	if _, err := os.Stat(c.file); err == nil && c.once.CompareAndSwap(false, true) {
		c.cancel()
		<-c.Done()
	}
	return c.Context.Err()
}

func TestCancelBetweenFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "garden") // whose files take no reading, which heeds the context by itself
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{"sources": repository(t, nil), "no sources": empty} {
		out := t.TempDir()
		s := open(t, actors.Config{})
		state := wait(t, start(t, s, canceledAfter(t, s, newJob(t, all(dir, out), nowhere),
			filepath.Join(out, "local", "garden", "garden-llms.txt"))))
		if state.Status != messages.Canceled || len(state.Artifacts) != 1 || !state.Artifacts[0].Partial {
			t.Errorf("%s: %s with %+v, want canceled with one partial artifact", what, state.Status, state.Artifacts)
		}
		same(t, "files of "+what, names(tree(t, out)), []string{"local/garden/garden-llms.txt"})
		if text := read(t, filepath.Join(out, "local", "garden", "garden-llms.txt")); !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: the file that was written is not whole: %q", what, text)
		}
	}
}

// canceledAfter is the job, cancelled by somebody who waits for the file.
func canceledAfter(t *testing.T, s *actors.System, job actors.Job, file string) actors.Job {
	write := job.Tasks[2].Run
	job.Tasks[2].Run = func(ctx context.Context, task *actors.TaskContext) error {
		cancel := func() {
			if err := s.Cancel(context.Background(), task.RunID(), "", "enough"); err != nil {
				t.Errorf("Cancel: %v", err)
			}
		}
		return write(onceThere{ctx, file, cancel, new(atomic.Bool)}, task)
	}
	return job
}
