package llmstxt_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
	"github.com/seed889630bf/lastword/messages"
)

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
		completed(t, newJob(t, only(repository(t, nil), out), from(remote, "")))
		same(t, "files of "+remote, names(tree(t, out)), []string{strings.TrimSuffix(want, "txt") + "json", want})
	}
}

func TestFolderWithAName(t *testing.T) {
	for name, want := range map[string]string{"a:b?": "local/a-b-/a-b--llms.txt", "..x": "local/x/x-llms.txt", "...": "local/repository/repository-llms.txt"} {
		dir, out := filepath.Join(t.TempDir(), name), t.TempDir()
		if err := os.Rename(repository(t, nil), dir); err != nil {
			t.Fatal(err)
		}
		completed(t, newJob(t, only(dir, out), nowhere))
		same(t, "files of "+name, names(tree(t, out)), []string{strings.TrimSuffix(want, "txt") + "json", want})
	}
}

// An origin of the embedder's own making is no more trusted than a remote.
func TestOriginCannotLeadOut(t *testing.T) {
	for _, o := range []scan.Origin{{Owner: "../..", Repo: "x"}, {Owner: "..", Repo: "x"}, {Owner: "o", Repo: "../../../x"}} {
		around := t.TempDir()
		out := filepath.Join(around, "a", "out")
		failed(t, newJob(t, all(repository(t, nil), out), func() scan.Origin { return o }),
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
	completed(t, newJob(t, only(repository(t, nil), out), nowhere))
	same(t, "files", names(tree(t, dir)), slices.Sorted(slices.Values(append(keep, "garden-llms.json", "garden-llms.txt"))))
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
	if err := errors.Join(os.Mkdir(empty, 0o755), os.WriteFile(filepath.Join(empty, "a.txt"), nil, 0o644)); err != nil {
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
