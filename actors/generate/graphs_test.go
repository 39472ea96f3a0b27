package generate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages"
)

// graphed asks for the graph, and as little as can be beside it.
func graphed(repository, out string) generate.Input {
	in := only(repository, out)
	in.Graph = true
	return in
}

func twoPackages(t *testing.T) string {
	t.Helper()
	return sample(t, map[string]string{
		"soil/soil.go": "// Package soil is what things grow in.\npackage soil\n\nimport _ \"example.com/garden\"\n"})
}

func TestGraph(t *testing.T) {
	out := t.TempDir()
	state := completed(t, newJob(t, graphed(twoPackages(t), out), from("https://example.com/plants/garden", "")))
	var said []string
	for _, a := range state.Artifacts {
		said = append(said, a.Name+" "+a.Path)
	}
	same(t, "artifacts", said, []string{
		"llms.txt example.com/plants/garden/llms.txt",
		"nodes/root.md example.com/plants/garden/graph/nodes/root.md",
		"nodes/soil.md example.com/plants/garden/graph/nodes/soil.md",
		"repo.force.json example.com/plants/garden/graph/repo.force.json",
		"repo.graph.json example.com/plants/garden/graph/repo.graph.json",
		"llms.json example.com/plants/garden/llms.json",
	})
	for _, a := range state.Artifacts {
		if text := read(t, filepath.Join(out, filepath.FromSlash(a.Path))); a.Bytes != int64(len(text)) ||
			a.SHA256 != messages.Digest(text) {
			t.Errorf("%+v, but the file has %d bytes", a, len(text))
		}
	}
	var d struct {
		Title string
		Edges []struct {
			From, To, Kind string
			Weight         int
		}
	}
	must(t, json.Unmarshal([]byte(read(t, filepath.Join(out, "example.com/plants/garden/graph/repo.graph.json"))), &d))
	if fmt.Sprint(d) != "{Garden [{soil root imports 1}]}" {
		t.Errorf("%s: edges %+v", d.Title, d.Edges)
	}
	var result generate.Result
	if err := json.Unmarshal(state.End.Result, &result); err != nil || result.Packages != 2 {
		t.Errorf("result %+v, %v", result, err)
	}
}

// Pages of packages that are gone are removed, other pages stay, and no run reads what an earlier one wrote.
func TestGraphAgain(t *testing.T) {
	dir := twoPackages(t)
	in := graphed(dir, filepath.Join(dir, "artifacts"))
	completed(t, newJob(t, in, nowhere))
	first := tree(t, dir)
	nodes := filepath.Join(in.Out, "local", "garden", "graph", "nodes")
	for name, text := range map[string]string{"own.md": "<!-- lastword.graph/1 -->\n# My own\n", ".root.md.r_dead.tmp": "half"} {
		must(t, os.WriteFile(filepath.Join(nodes, name), []byte(text), 0o644))
	}
	completed(t, newJob(t, in, nowhere))
	second := tree(t, dir)
	const own = "artifacts/local/garden/graph/nodes/own.md"
	if second[own] == "" {
		t.Error("somebody's own page is gone")
	}
	delete(second, own)
	same(t, "files", names(second), names(first))
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s is\n%s\nafter the second run, it was\n%s", name, second[name], text)
		}
	}
	must(t, os.RemoveAll(filepath.Join(dir, "soil")))
	completed(t, newJob(t, in, nowhere))
	if _, err := os.Stat(filepath.Join(nodes, "soil.md")); err == nil {
		t.Error("the page of the package that is gone is still there")
	}
}

// A page that is there as it should be is left alone, and any other is replaced.
func TestPagesThatAreThereStay(t *testing.T) {
	dir, out, elsewhere := twoPackages(t), t.TempDir(), filepath.Join(t.TempDir(), "same.md")
	completed(t, newJob(t, graphed(dir, out), nowhere))
	nodes := filepath.Join(out, "local", "garden", "graph", "nodes")
	root, soil := filepath.Join(nodes, "root.md"), filepath.Join(nodes, "soil.md")
	first := tree(t, out)
	before, err := os.Stat(root)
	must(t, errors.Join(err, os.WriteFile(soil, []byte(strings.ToUpper(read(t, soil))), 0o644)))
	completed(t, newJob(t, graphed(dir, out), nowhere))
	if after, err := os.Stat(root); err != nil || !os.SameFile(before, after) {
		t.Errorf("the page was written again, %v", err)
	}
	must(t, errors.Join(os.Rename(root, elsewhere), os.Symlink(elsewhere, root)))
	state := completed(t, newJob(t, graphed(dir, out), nowhere))
	if info, err := os.Lstat(root); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is still there: %v, %v", info, err)
	}
	if len(state.Artifacts) != len(first) {
		t.Errorf("the artifacts are %+v", state.Artifacts)
	}
	for name, text := range tree(t, out) {
		if first[name] != text {
			t.Errorf("%s is\n%s\nwant\n%s", name, text, first[name])
		}
	}
}

// What the graph's folder is does not lead elsewhere.
func TestGraphStaysInTheFolder(t *testing.T) {
	for _, name := range []string{"graph", "graph/nodes"} {
		out, outside := t.TempDir(), t.TempDir()
		link := filepath.Join(out, "local", "garden", filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(link), 0o755))
		must(t, os.Symlink(outside, link))
		failed(t, newJob(t, graphed(twoPackages(t), out), nowhere), messages.CauseInvalidInput)
		same(t, "files outside", names(tree(t, outside)), nil)
	}
}

// The graph is a part of what is cached, and of what the cache goes by.
func TestGraphIsCached(t *testing.T) {
	r, cache := newRemote(), t.TempDir()
	r.files["go.mod"] = &fstest.MapFile{Data: []byte("module example.com/garden\n")}
	r.files["a/a.go"] = &fstest.MapFile{Data: []byte("package a\n")}
	in := generate.Input{Options: llmstxt.Options{Graph: true}}
	_, files := r.generate(t, in, r.config(cache, "1"))
	result, again := r.generate(t, in, r.config(cache, "1"))
	if !result.Cached || result.Packages != 1 {
		t.Errorf("result %+v", result)
	}
	same(t, "files", names(again), names(files))
	for name, text := range files {
		if again[name] != text {
			t.Errorf("%s is other than it was", name)
		}
	}
	if files["example.com/plants/garden/graph/nodes/a.md"] == "" {
		t.Errorf("no page in %q", names(files))
	}
	result, plain := r.generate(t, generate.Input{}, r.config(cache, "1"))
	if result.Cached || len(plain) >= len(files) {
		t.Errorf("without the graph: cached %v, %q", result.Cached, names(plain))
	}
}

// A run that is cancelled while it writes hundreds of pages leaves whole ones, and says that they are a part.
func TestGraphCanceled(t *testing.T) {
	more := map[string]string{}
	for i := range 300 {
		more["p"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+"/"+string(rune('a'+i/26))+"/x.go"] = "package x\n"
	}
	out := t.TempDir()
	run := start(t, open(t, actors.Config{}), newJob(t, graphed(sample(t, more), out), nowhere))
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		if w, ok := e.Body.(messages.ArtifactWritten); ok && llmstxt.IsPage(w.Name) {
			must(t, run.Cancel(t.Context(), "enough"))
			break
		}
	}
	state := wait(t, run)
	for name, text := range tree(t, out) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		page := llmstxt.CheckerOf("nodes/" + filepath.Base(name))
		if _, err := page.Write([]byte(text)); err != nil || page.Verdict() != nil {
			t.Errorf("%s is not whole", name)
		}
	}
	for _, a := range state.Artifacts {
		if state.Status == messages.Canceled && !a.Partial {
			t.Errorf("%s is not said to be a part", a.Name)
		}
	}
}
