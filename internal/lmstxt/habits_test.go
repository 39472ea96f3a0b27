package lmstxt_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// What clients of the earlier server are used to.

// The earlier server wrote llms-full.txt and llms-ctx.txt into the run that was named, and they were read from there.
func TestAFileMadeForARunIsReadFromIt(t *testing.T) {
	k := newKit(t)
	c := k.dial("", false)
	first := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url}).RunID
	read := map[string]any{"run_id": first, "artifact_name": "llms-full.txt"}
	c.generated("lmstxt_generate_llms_full", map[string]any{"repo_url": url})
	c.fails("not_found", "lmstxt_read_artifact", read)

	release, begun := make(chan struct{}), make(chan struct{}, 1)
	k.before = func(ctx context.Context) error {
		begun <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil
	}
	// Seed: "Same JSON `RunRecord` responses": the call and the record have the same run_id.
	r := c.recordOf(c.call("lmstxt_generate_llms_full", map[string]any{"repo_url": url, "run_id": first}))
	later := r.Started
	if <-begun; r.RunID != first || later == "" || later == first {
		t.Errorf("the record is of %s, and the run %s, want %s", r.RunID, later, first)
	}
	if x := c.text("lmstxt_read_artifact", read); x.Status != "processing" {
		t.Errorf("while it is made: %+v", x)
	}
	if all := c.runs(); len(all) != 2 || all[0].RunID != first { // the other one is of llms_full without a run
		t.Errorf("%d runs are listed, want one for each id", len(all))
	}
	close(release)
	c.call("run_wait", map[string]any{"run_id": later})
	if x := c.text("lmstxt_read_artifact", read); x.Total == 0 {
		t.Error("llms-full.txt is empty")
	}
	if _, ok := c.resource("lmstxt://runs/" + string(first) + "/llms-full.txt"); !ok {
		t.Error("there is no such resource")
	}
	// The options are in llms.json, so that the later run has written another, and that is the one to read.
	strict := "run://" + string(first) + "/artifacts/llms.json"
	if _, ok := c.resource(strict); ok {
		t.Error("the later llms.json is given for the first run's own")
	}
	of := map[string]any{"run_id": first, "artifact_name": "llms.json"}
	if x := c.text("lmstxt_read_artifact", of); x.Total == 0 {
		t.Error("llms.json is empty")
	}
	must(t, os.Remove(filepath.Join(k.root, "anybody", "plants", "garden", "garden-llms.json")))
	c.fails("not_found", "lmstxt_read_artifact", of)
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"run_id": first, "artifact_name": "llms-ctx.txt"})
	c.generated("lmstxt_generate_llms_ctx", map[string]any{"run_id": later})
	c.text("lmstxt_read_artifact", map[string]any{"run_id": first, "artifact_name": "llms-ctx.txt"})
}

// Who names a run gets what is made for it into the run's folder: clients give all arguments, with their defaults. Seed:
// "Keep existing `lmstxt_generate_*` tools".
func TestARunIsGoneOnWithInItsFolder(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	first := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": "kept"}).RunID
	for tool, out := range map[string]string{"lmstxt_generate_llms_full": "./artifacts", "lmstxt_generate_llms_ctx": "/elsewhere"} {
		r := c.generated(tool, map[string]any{"repo_url": url, "run_id": first, "output_dir": out})
		if want := filepath.Join(k.root, "anybody", "kept", "plants", "garden", "garden-llms.txt"); len(r.Artifacts) == 0 ||
			r.Artifacts[0].Path != want {
			t.Errorf("%s: %+v, want %s", tool, r.Artifacts, want)
		}
	}
	c.fails("invalid_input", "lmstxt_generate_llms_full", map[string]any{"repo_url": url, "output_dir": "/elsewhere"})
}

// The earlier server named folders below its root by their whole paths as well.
func TestFoldersByTheirWholePaths(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	whole := filepath.Join(k.root, "anybody", "deep")
	r := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": whole})
	if want := filepath.Join(whole, "plants", "garden", "garden-llms.txt"); len(r.Artifacts) == 0 || r.Artifacts[0].Path != want {
		t.Errorf("%+v, want %s", r.Artifacts, want)
	}
	c.text("lmstxt_read_artifact", map[string]any{"repo_url": url, "output_dir": "deep", "artifact_name": "llms.txt"})
	c.text("lmstxt_read_artifact", map[string]any{"repo_url": url, "output_dir": whole, "artifact_name": "llms.txt"})
	c.generated("lmstxt_generate_llms_ctx", map[string]any{"repo_url": url, "output_dir": whole + "/."})
	for _, out := range []string{k.root, filepath.Join(k.root, "stranger"), "/"} {
		c.fails("invalid_input", "lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": out})
	}
	remote := newKitIn(t, t.TempDir(), "").dial("", true)
	remote.fails("invalid_input", "lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": whole})
}

// A node's page is found by each spelling of its repository, wherever below the root its graph is.
func TestPagesBelowAnOutputFolder(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	for _, below := range []string{"deep/er", ""} {
		c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true, "output_dir": below})
		want, err := os.ReadFile(filepath.Join(k.root, "anybody", below, "plants", "garden", "graph", "nodes", "soil.md"))
		must(t, err)
		for _, repo := range []string{"plants--garden", "plants/garden", "plants__garden"} {
			if x := c.text("lmstxt_read_repo_graph_node", map[string]any{"repo_id": repo, "node_id": "soil"}); x.Content != string(want) || x.Truncated {
				t.Errorf("%s: %+v", repo, x)
			}
		}
		if got, ok := c.resource("repo://plants--garden/graph/nodes/soil"); !ok || got != string(want) {
			t.Errorf("as a resource: %t %q", ok, got)
		}
	}
	for repo, node := range map[string]string{"ants--garden": "soil", "er/plants": "soil", "garden": "soil", "x--plants--garden": "soil", "plants--garden": "nope"} {
		c.fails("not_found", "lmstxt_read_repo_graph_node", map[string]any{"repo_id": repo, "node_id": node})
	}
	if _, ok := c.resource("repo://plants--garden/graph/nodes/nope"); ok {
		t.Error("a node that is not there can be read")
	}
}

// Who polls until a run does not say processing any more has to find it ended.
func TestARunThatWaitsItsTurnIsBeingProcessed(t *testing.T) {
	k := newKit(t)
	c := k.dial("", false)
	var ids []messages.RunID
	for range 8 {
		r := c.recordOf(c.call("lmstxt_generate_llms_txt", map[string]any{"url": url}))
		if ids = append(ids, r.RunID); r.Status != "processing" && r.Status != "completed" {
			t.Errorf("at once: %s", r.Status)
		}
	}
	for _, r := range c.runs() {
		if r.Status != "processing" && r.Status != "completed" {
			t.Errorf("listed: %s", r.Status)
		}
	}
	for _, id := range ids {
		c.call("run_wait", map[string]any{"run_id": id})
	}
}

// By a repository is read what is there, also where a server that shares the folder wrote it.
func TestAnotherServersFileIsReadByTheRepository(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url})
	file := filepath.Join(k.root, "anybody", "plants", "garden", "garden-llms.txt")
	must(t, os.WriteFile(file, []byte("# Another\n"), 0o644))
	read := map[string]any{"repo_url": url, "artifact_name": "llms.txt"}
	if x := c.text("lmstxt_read_artifact", read); x.Content != "# Another\n" {
		t.Errorf("%+v", x)
	}
	must(t, os.Remove(file))
	c.fails("not_found", "lmstxt_read_artifact", read)
}

// Seed: "Keep existing `lmstxt_generate_*` tools": the earlier server passed over arguments that it did not know.
func TestUnknownArgumentsAreDropped(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	a := c.call("lmstxt_generate_llms_txt", map[string]any{"url": url, "budget": 7, "added": true})
	c.call("run_wait", map[string]any{"run_id": c.recordOf(a).RunID})
	if notice := a.Meta.Notice; a.IsError || !strings.Contains(notice.Text, "added, budget") {
		t.Errorf("%s with the notice %+v", a.Structured, notice)
	}
	if a := c.call("lmstxt_list_runs", map[string]any{"limit": 1}); a.Meta.Notice.Text != "" {
		t.Errorf("a notice for nothing: %+v", a.Meta.Notice)
	}
	c.fails("invalid_input", "lmstxt_list_runs", map[string]any{"limit": 0})
}

// Seed: "Inputs: repo URL, output_dir, cache flags, stream options."
func TestStreamOptions(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	for _, bad := range []map[string]any{{"kinds": []string{"moon.rose"}}, {"level": "loud"}, {"rate": -1}} {
		bad["url"] = url
		c.fails("invalid_input", "lmstxt_generate_llms_txt_stream", bad)
	}
	if r := c.recordOf(c.call("lmstxt_generate_llms_txt_stream", map[string]any{"url": url, "level": "milestone", "kinds": []string{"artifact.written"}, "rate": 5})); r.Status != "completed" {
		t.Errorf("%+v", r)
	}
}
