package generate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
)

// The files may go into the repository, even among its documents: the next run does not read them.
func TestOutputInsideTheRepository(t *testing.T) {
	for _, out := range []string{"artifacts", ".", "docs"} {
		dir := sample(t, map[string]string{"docs/local/garden/weeds.md": "# Weeds\n\nHow to love them.\n"})
		in := all(dir, filepath.Join(dir, out))
		completed(t, newJob(t, in, nowhere))
		first := tree(t, dir)
		left := filepath.Join(in.Out, "local", "garden", ".llms.txt.r_dead.tmp")
		must(t, os.WriteFile(left, []byte("# Half"), 0o644))
		completed(t, newJob(t, in, nowhere))
		for name, text := range tree(t, dir) {
			if first[name] != text {
				t.Errorf("into %s: %s is\n%s\nafter the second run, it was\n%s", out, name, text, first[name])
			}
		}
		if txt := filepath.Join(in.Out, "local", "garden", "llms.txt"); !strings.Contains(read(t, txt), "weeds.md") {
			t.Errorf("into %s: the document beside the output is gone", out)
		}
	}
}

func TestLayout(t *testing.T) {
	for _, test := range []struct{ remote, host, lmstxt string }{
		{"", "local/garden/llms.txt", "local/garden/garden-llms.txt"},
		{"../..", "local/garden/llms.txt", "local/garden/garden-llms.txt"},
		{"https://example.com/../../garden", "local/garden/llms.txt", "local/garden/garden-llms.txt"},
		{"git@example.com:../../etc", "local/garden/llms.txt", "local/garden/garden-llms.txt"},
		{"https://Example.com:8443/o/r.git", "example.com-8443/o/r/llms.txt", "o/r/r-llms.txt"},
		{"git@example.com:group/sub/r.git", "example.com/group/sub/r/llms.txt", "group/sub/r/r-llms.txt"},
		{"https://example.com/o/.github", "example.com/o/_github/llms.txt", "o/_github/github-llms.txt"},
	} {
		for layout, want := range map[generate.Layout]string{generate.LayoutHost: test.host,
			generate.LayoutLmstxt: test.lmstxt, generate.LayoutFlat: "llms.txt"} {
			in := only(sample(t, nil), t.TempDir())
			in.Layout = layout
			completed(t, newJob(t, in, from(test.remote, "")))
			same(t, "files of "+test.remote, names(tree(t, in.Out)), []string{strings.TrimSuffix(want, "txt") + "json", want})
		}
	}
}

// A second local repository with the same name gets another folder, for as long as the first one exists.
func TestLocalRepositoriesOfOneName(t *testing.T) {
	out, first, second := t.TempDir(), sample(t, nil), sample(t, nil)
	link := filepath.Join(t.TempDir(), "garden")
	must(t, os.Symlink(first, link))
	real, err := filepath.EvalSymlinks(second)
	must(t, err)
	own := "local/garden-" + messages.Digest(real)[:8]
	folders := []string{own + "/llms.json", own + "/llms.txt", "local/garden/llms.json", "local/garden/llms.txt"}
	for _, dir := range []string{first, second, first, link, second} {
		completed(t, newJob(t, only(dir, out), nowhere))
	}
	same(t, "files", names(tree(t, out)), folders)
	must(t, os.RemoveAll(first))
	third := sample(t, map[string]string{"README.md": "# Third\n"})
	completed(t, newJob(t, only(third, out), nowhere))
	same(t, "files", names(tree(t, out)), folders)
	if text := read(t, filepath.Join(out, "local", "garden", "llms.txt")); !strings.HasPrefix(text, "# Third\n") {
		t.Errorf("the folder is not the third one's:\n%s", text)
	}
}

// Files may go into the repository itself; links start from there.
func TestFilesInPlace(t *testing.T) {
	dir := sample(t, nil)
	in := all(dir, dir)
	in.Layout, in.Graph = generate.LayoutFlat, true
	completed(t, newJob(t, in, nowhere))
	first := tree(t, dir)
	completed(t, newJob(t, in, nowhere))
	second := tree(t, dir)
	same(t, "files", names(second), []string{"README.md", "docs/guide.md", "garden.go", "go.mod", "graph/nodes/root.md",
		"graph/repo.force.json", "graph/repo.graph.json", "llms-ctx.txt", "llms-full.txt", "llms.json", "llms.txt"})
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s is\n%s\nafter the second run, it was\n%s", name, second[name], text)
		}
	}
	if !strings.Contains(first["llms.json"], `"path": "."`) {
		t.Errorf("llms.json does not say that the repository is beside it:\n%s", first["llms.json"])
	}
}

// llms.txt alone goes to the file that is named. Its links lead to the repository from there.
func TestOneFile(t *testing.T) {
	dir := sample(t, nil)
	in, config := generate.Input{Repository: dir, Out: filepath.Join(dir, "new docs")}, folder(nowhere)
	config.File = "index.txt"
	for range 2 {
		job, err := generate.Job(in, config)
		must(t, err)
		completed(t, job)
	}
	same(t, "files", names(tree(t, dir)), []string{"README.md", "docs/guide.md", "garden.go", "go.mod", "new docs/index.txt"})
	if text := read(t, filepath.Join(in.Out, config.File)); !strings.Contains(text, "](../docs/guide.md)") {
		t.Errorf("no link to the guide:\n%s", text)
	}
}

// A run removes what the one before it wrote and it does not, unless that has changed since.
func TestFilesOfThePreviousRunAreRemoved(t *testing.T) {
	for layout, want := range map[generate.Layout][]string{
		generate.LayoutFlat:   {"graph/nodes/root.md", "llms-full.txt", "llms.json", "llms.txt", "notes.txt"},
		generate.LayoutLmstxt: nil, // everything stays
	} {
		in := all(sample(t, nil), t.TempDir())
		in.Layout, in.Graph = layout, true
		completed(t, newJob(t, in, nowhere))
		dir, name := in.Out, "llms-full.txt"
		if layout == generate.LayoutLmstxt {
			dir, name = filepath.Join(in.Out, "local", "garden"), "garden-llms-full.txt"
		}
		for _, changed := range []string{name, "graph/nodes/root.md", "notes.txt"} {
			must(t, os.WriteFile(filepath.Join(dir, changed), []byte("mine\n"), 0o644))
		}
		if want == nil {
			want = names(tree(t, dir))
		}
		in.Graph, in.Full, in.Ctx = false, llmstxt.FullNone, false
		completed(t, newJob(t, in, nowhere))
		same(t, "files", names(tree(t, dir)), want)
	}
}

// An llms.json that came with the repository has no say about other files.
func TestForeignDocumentRemovesNothing(t *testing.T) {
	const guide = "# Guide\n"
	files := fmt.Sprintf(`{"artifacts":[{"name":"docs/guide.md","sha256":%q},{"name":"../garden/docs/guide.md","sha256":%[1]q}]}`,
		messages.Digest(guide))
	in := all(sample(t, map[string]string{"docs/guide.md": guide, "llms.json": files}), "")
	in.Out, in.Layout = in.Repository, generate.LayoutFlat
	completed(t, newJob(t, in, nowhere))
	if text := read(t, filepath.Join(in.Repository, "docs", "guide.md")); text != guide {
		t.Errorf("the guide is %q", text)
	}
}

func TestFolderWithAName(t *testing.T) {
	for name, want := range map[string]string{"a:b?": "local/a-b-/llms.txt", "..x": "local/x/llms.txt", "...": "local/repository/llms.txt"} {
		dir, out := filepath.Join(t.TempDir(), name), t.TempDir()
		must(t, os.Rename(sample(t, nil), dir))
		completed(t, newJob(t, only(dir, out), nowhere))
		same(t, "files of "+name, names(tree(t, out)), []string{strings.TrimSuffix(want, "txt") + "json", want})
	}
}

// An origin of the embedder's own making is no more trusted than a remote.
func TestOriginCannotLeadOut(t *testing.T) {
	for _, o := range []source.Repository{{Remote: "https://h.example/../../x"}, {Remote: "h.example:../x"},
		{Remote: "https://h.example/o/x/../../../x"}, {Remote: "https://h.example/o/r", Folder: "../../../../x"}} {
		around := t.TempDir()
		completed(t, newJob(t, only(sample(t, nil), filepath.Join(around, "a", "out")), o))
		for _, name := range names(tree(t, around)) {
			if !strings.HasPrefix(name, "a/out/") {
				t.Errorf("%+v: %s is outside", o, name)
			}
		}
	}
}

func TestLinksCannotLeadOut(t *testing.T) {
	out, elsewhere := t.TempDir(), t.TempDir()
	must(t, os.Symlink(elsewhere, filepath.Join(out, "local")))
	failed(t, newJob(t, all(sample(t, nil), out), nowhere), messages.CauseInvalidInput)
	link := filepath.Join(t.TempDir(), "link")
	inside := sample(t, map[string]string{"hidden/x": "x"}) // a repository's link stays in it
	must(t, errors.Join(os.Symlink(elsewhere, link), os.Symlink("hidden", filepath.Join(inside, "graph"))))
	failed(t, newJob(t, all(sample(t, nil), link), nowhere), messages.CauseInvalidInput)
	in := all(inside, inside)
	in.Layout, in.Graph = generate.LayoutFlat, true
	failed(t, newJob(t, in, nowhere), messages.CauseInvalidInput)
	same(t, "files behind the link", names(tree(t, filepath.Join(inside, "hidden"))), []string{"x"})
	same(t, "files elsewhere", names(tree(t, elsewhere)), nil)
}

func TestLinkUnderAFinalNameIsReplaced(t *testing.T) {
	out, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	link := filepath.Join(out, "local", "garden", "llms.txt")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("precious"), 0o644), os.MkdirAll(filepath.Dir(link), 0o755),
		os.Symlink(elsewhere, link)); err != nil {
		t.Fatal(err)
	}
	completed(t, newJob(t, all(sample(t, nil), out), nowhere))
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() || read(t, elsewhere) != "precious" {
		t.Errorf("after the run: %v, %v, and elsewhere %q", info, err, read(t, elsewhere))
	}
}

// Who has the old file open goes on reading the old file.
func TestFilesAreReplacedNotRewritten(t *testing.T) {
	out := t.TempDir()
	name := filepath.Join(out, "local", "garden", "llms.txt")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("old"), 0o644)))
	old, err := os.Open(name)
	must(t, err)
	defer old.Close()
	completed(t, newJob(t, all(sample(t, nil), out), nowhere))
	data, err := io.ReadAll(old)
	if err != nil || string(data) != "old" || !strings.HasPrefix(read(t, name), "# Garden\n") {
		t.Errorf("the old file reads %q (%v), the new one %q", data, err, read(t, name))
	}
}

func TestFolderUnderAFinalName(t *testing.T) {
	out := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(out, "local", "garden", "llms-full.txt", "x"), 0o755))
	state := end(t, newJob(t, all(sample(t, nil), out), nowhere))
	if state.Status != messages.Failed || len(state.Artifacts) != 1 || state.Artifacts[0].Name != "llms.txt" {
		t.Errorf("%s with %+v, want a failure after llms.txt", state.Status, state.Artifacts)
	}
	same(t, "files", names(tree(t, out)), []string{"local/garden/llms.txt"})
}

func TestUnfinishedFilesAreSwept(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "local", "garden")
	keep := []string{".llms.txt.r_living.tmp", ".garden.tmp", ".other-llms.txt.r_dead.tmp", "llms.txt.tmp"}
	for _, name := range append(keep, ".llms.txt.r_dead.tmp", ".llms-ctx.txt.r_dead.tmp") {
		must(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o644)))
	}
	living, err := os.Open(filepath.Join(dir, keep[0]))
	must(t, err)
	defer living.Close()
	if err := atomicfile.LockFile(living); err != nil {
		t.Skip("files cannot be locked here, so none is swept")
	}
	completed(t, newJob(t, only(sample(t, nil), out), nowhere))
	same(t, "files", names(tree(t, dir)), slices.Sorted(slices.Values(append(keep, "llms.json", "llms.txt"))))
}

// A long file has a readable first part while it is written, with a name that says so. Seed: "artifacts are either absent or
// clearly marked partial", with the event `artifact.partial`.
func TestLongFilesHaveAFirstPart(t *testing.T) {
	dir, out := filepath.Join(t.TempDir(), "garden"), t.TempDir()
	for i := range 12 {
		name := filepath.Join(dir, "docs", fmt.Sprintf("page%d.md", i))
		text := fmt.Sprintf("# Page %d\n\n%s", i, strings.Repeat("All that is known of the soil is here.\n", 1000))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	folder, shown := filepath.Join(out, "local", "garden"), 0
	left := filepath.Join(folder, "llms-ctx.txt.partial") // by a run that was killed
	must(t, errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(left, []byte("half"), 0o644)))
	run := start(t, open(t, actors.Config{}), newJob(t, generate.Input{Repository: dir, Out: out}, nowhere))
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		if part, ok := e.Body.(messages.ArtifactPartial); ok {
			if shown++; part.Name != "llms-full.txt" || part.Path != "local/garden/llms-full.txt.partial" || part.Bytes < 200<<10 || !part.Partial {
				t.Errorf("the first part is %+v", part)
			}
			if text, err := os.ReadFile(filepath.Join(folder, "llms-full.txt.partial")); err == nil && messages.Digest(string(text)) != part.SHA256 {
				t.Errorf("it has %d bytes", len(text))
			}
		}
	}
	if state := wait(t, run); shown != 1 || state.Status != messages.Completed ||
		slices.ContainsFunc(state.Artifacts, func(a messages.Artifact) bool { return a.Partial }) {
		t.Errorf("%d first parts, and then %s with %+v", shown, state.Status, state.Artifacts)
	}
	same(t, "files", names(tree(t, out)), []string{"local/garden/llms-full.txt", "local/garden/llms.json", "local/garden/llms.txt"})
}

// Runs that write the same files at once sweep each other's folder; each must complete, and the files be whole.
func TestRunsIntoTheSameFolder(t *testing.T) {
	dir, out, alone := sample(t, nil), t.TempDir(), t.TempDir()
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

// A run that is cancelled while it writes leaves whole files only, and no llms.json that would name them.
func TestCancelBetweenFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "garden") // whose files take no reading, which heeds the context by itself
	must(t, errors.Join(os.Mkdir(empty, 0o755), os.WriteFile(filepath.Join(empty, "a.txt"), nil, 0o644)))
	for what, dir := range map[string]string{"sources": sample(t, nil), "no sources": empty} {
		out, alone := t.TempDir(), t.TempDir()
		completed(t, newJob(t, all(dir, alone), nowhere))
		s := open(t, actors.Config{})
		config, cancel := folder(nowhere), func() error { return nil }
		config.Spend = func(context.Context, string, int) error {
			if _, err := os.Stat(filepath.Join(out, "local", "garden", "llms.txt")); err != nil {
				return nil
			}
			return cancel()
		}
		job, err := generate.Job(all(dir, out), config)
		must(t, err)
		write := job.Tasks[2].Run
		job.Tasks[2].Run = func(ctx context.Context, task *actors.TaskContext) error {
			cancel = sync.OnceValue(func() error {
				if err := s.Cancel(context.Background(), task.RunID(), "", "enough"); err != nil {
					t.Errorf("Cancel: %v", err)
				}
				<-ctx.Done()
				return context.Cause(ctx)
			})
			return write(ctx, task)
		}
		state := wait(t, start(t, s, job))
		if state.Status != messages.Canceled ||
			slices.ContainsFunc(state.Artifacts, func(a messages.Artifact) bool { return !a.Partial }) {
			t.Errorf("%s: %s with %+v, want canceled, every artifact partial", what, state.Status, state.Artifacts)
		}
		order := []string{"local/garden/llms.txt", "local/garden/llms-full.txt", "local/garden/llms-ctx.txt",
			"local/garden/llms.json"}
		left := names(tree(t, out))
		same(t, "files of "+what, left, slices.Sorted(slices.Values(order[:len(left)])))
		whole := tree(t, alone)
		for name, text := range tree(t, out) {
			if text != whole[name] || path.Base(name) == "llms.json" {
				t.Errorf("%s: %s is there: %q", what, name, text)
			}
		}
	}
}

var must = fatal.IfError
