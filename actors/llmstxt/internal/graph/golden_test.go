package graph_test

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/graph"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var update = flag.Bool("update", false, "accept what the golden files have become")

// Each archive in testdata is a repository; its comment may name "remote" and "commit". The files below want/ are
// what must come of it.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { golden(t, name) })
	}
}

func golden(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	must(t, err)
	files, kept := fstest.MapFS{}, &txtar.Archive{Comment: archive.Comment}
	want := map[string]string{}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "want/") {
			want[f.Name] = string(f.Data)
			continue
		}
		files[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		kept.Files = append(kept.Files, f)
	}
	origin := scan.ParseOrigin(setting(archive, "remote"), setting(archive, "commit"), "")
	got := written(t, build(t, files, origin, inParallel()))
	for _, f := range got {
		if !*update && want[f.Name] != string(f.Data) {
			t.Errorf("%s is\n%s\nwant\n%s", f.Name, f.Data, want[f.Name])
		}
		delete(want, f.Name)
	}
	for name := range want {
		if !*update {
			t.Errorf("there is no %s", name)
		}
	}
	if !bytes.Equal(txtar.Format(&txtar.Archive{Files: got}),
		txtar.Format(&txtar.Archive{Files: written(t, build(t, files, origin, graph.Options{}))})) {
		t.Error("one reader at a time finds other than several")
	}
	if kept.Files = append(kept.Files, got...); *update {
		must(t, os.WriteFile(name, txtar.Format(kept), 0o644))
	}
}

func setting(archive *txtar.Archive, name string) string {
	for line := range strings.Lines(string(archive.Comment)) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// inParallel has several packages read at a time.
func inParallel() graph.Options {
	return graph.Options{Go: func(f func(context.Context) error) { go f(context.Background()) }}
}

type failer interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}

func build(t failer, files fs.FS, origin scan.Origin, o graph.Options) *graph.Graph {
	t.Helper()
	repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
	must(t, err)
	repo.Name, repo.Origin = "garden", origin
	index, err := rank.Build(t.Context(), files, repo, rank.Options{}, nil)
	must(t, err)
	g, err := graph.Build(t.Context(), files, repo, index.Survey, o)
	must(t, err)
	return g
}

// written gives all that a graph writes, each checked.
func written(t failer, g *graph.Graph) []txtar.File {
	t.Helper()
	var list []txtar.File
	take := func(name string, check func([]byte) error, write func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		must(t, write(&b))
		if err := check(b.Bytes()); err != nil {
			t.Fatal(name, err, b.String())
		}
		list = append(list, txtar.File{Name: "want/" + name, Data: b.Bytes()})
	}
	take("repo.graph.json", graph.Check, func(b *bytes.Buffer) error { return g.JSON(b) })
	take("repo.force.json", graph.CheckForce, func(b *bytes.Buffer) error { return g.Force(b) })
	for _, p := range g.Pages() {
		if !graph.IsPage(p.Name) {
			t.Fatal(p.Name, "is no name of a page")
		}
		take(p.Name, graph.CheckPage, func(b *bytes.Buffer) error { return p.Write(b) })
	}
	return list
}

// Progress ends with all packages, and a run that is cancelled has no graph.
func TestProgressAndCancel(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"a/a.go", "b/b.go", "c/c.go"} {
		files[name] = &fstest.MapFile{Data: []byte("package x\n")}
	}
	repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
	must(t, err)
	index, err := rank.Build(t.Context(), files, repo, rank.Options{}, nil)
	must(t, err)
	for _, o := range []graph.Options{{}, inParallel()} {
		var told []int
		o.Progress = func(done, total int) { told = append(told, done, total) }
		_, err := graph.Build(t.Context(), files, repo, index.Survey, o)
		must(t, err)
		if n := len(told); n != 6 || told[n-2] != 3 || told[n-1] != 3 {
			t.Errorf("progress %v", told)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var once sync.Once
		o.Progress = func(int, int) { once.Do(func() { cancel(os.ErrDeadlineExceeded) }) }
		if _, err := graph.Build(ctx, files, repo, index.Survey, o); err != os.ErrDeadlineExceeded {
			t.Errorf("canceled: %v", err)
		}
	}
}

var must = fatal.IfError
