package lmstxt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

const url = "https://github.com/plants/garden"

func named(r record) (names []string) {
	for _, a := range r.Artifacts {
		if a.Path != "" { // the logs have none
			names = append(names, a.Name)
		}
	}
	return names
}

// Each generator writes what it is for, and answers at once.
func TestGenerators(t *testing.T) {
	k := newKit(t)
	k.inEachEra(func(c *client) {
		r := c.recordOf(c.call("lmstxt_generate_llms_txt", map[string]any{"url": url}))
		if r.Status != "pending" && r.Status != "processing" && r.Status != "completed" || r.RunID == "" {
			t.Errorf("at once: %+v", r)
		}
		c.call("run_wait", map[string]any{"run_id": r.RunID}) // the next one writes to the same place
		for tool, want := range map[string][]string{
			"lmstxt_generate_llms_txt":  {"llms.txt", "llms.json"},
			"lmstxt_generate_llms_full": {"llms.txt", "llms-full.txt", "llms.json"},
			"lmstxt_generate_llms_ctx":  {"llms.txt", "llms-ctx.txt", "llms.json"},
		} {
			name := "repo_url"
			if tool == "lmstxt_generate_llms_txt" {
				name = "url"
			}
			r := c.generated(tool, map[string]any{name: url, "output_dir": "./artifacts"})
			if got := named(r); r.Status != "completed" || !slices.Equal(got, want) {
				t.Errorf("%s: %s, %v, want %v", tool, r.Status, got, want)
			}
			// Seed: "Same JSON `RunRecord` responses". The earlier server listed the logs of a run among its artifacts.
			if n := len(r.Artifacts); n < 2 || r.Artifacts[n-2].Name != "run.log" || r.Artifacts[n-1].Name != "run.events.jsonl" {
				t.Errorf("%s lists %+v", tool, r.Artifacts)
			} else if text, ok := c.resource(r.Artifacts[n-1].URI); !ok || !strings.Contains(text, "run.completed") {
				t.Errorf("%s is %q", r.Artifacts[n-1].URI, text)
			}
			for _, a := range r.Artifacts[:len(r.Artifacts)-2] {
				data, err := os.ReadFile(a.Path)
				if err != nil || int64(len(data)) != a.Bytes || len(a.SHA256) != 64 || !filepath.IsAbs(a.Path) {
					t.Errorf("%+v: %v", a, err)
				}
			}
			for _, at := range []string{r.CreatedAt, r.UpdatedAt} {
				if when, err := time.Parse(time.RFC3339Nano, at); err != nil || when.Location() != time.UTC {
					t.Errorf("the time %q: %v", at, err)
				}
			}
			if r.ErrorMessage != nil || r.UsedFallback || r.FallbackReason != nil || r.Stage == nil || *r.Stage != "write" {
				t.Errorf("%s: %+v", tool, r)
			}
		}
		r = c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true, "output_dir": "deep/er",
			"cache_lm": false, "verbose_budget": true, "enable_session_memory": nil})
		if got := named(r); !slices.Contains(got, "repo.graph.json") || !slices.Contains(got, "repo.force.json") {
			t.Errorf("with a graph: %v", got)
		}
		if want := filepath.Join(k.root, "anybody", "deep", "er", "plants", "garden", "garden-llms.txt"); r.Artifacts[0].Path != want {
			t.Errorf("written to %s, want %s", r.Artifacts[0].Path, want)
		}
	})
}

func TestCacheIsAskedForInTheJobsWords(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	for cache, want := range map[bool]bool{true: false, false: true} {
		c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "cache_lm": cache})
		if in := k.asked.Load(); in.NoCache != want || in.Full != "none" {
			t.Errorf("cache_lm %t: %+v", cache, in)
		}
	}
}

type lmstxtInput struct {
	Repository string `json:"repository"`
	Out        string `json:"out"`
	Full       string `json:"full"`
	Budget     int64  `json:"size_budget"`
	Tokens     int64  `json:"token_budget"`
	Ref        string `json:"ref"`
	Fresh      bool   `json:"fresh"`
	Graph      bool   `json:"graph"`
	Ctx        bool   `json:"ctx"`
}

func (k *kit) inputOf(id messages.RunID, in *lmstxtInput) {
	k.t.Helper()
	state, err := k.system.State(k.t.Context(), id)
	must(k.t, err)
	must(k.t, json.Unmarshal(state.Queued.Input, in))
}

// What an earlier run was asked for holds for what is made after it, if it has not failed.
func TestFilesOfAnEarlierRun(t *testing.T) {
	k := newKit(t)
	c := k.dial("", false)
	first := c.generatedBy(map[string]any{"repository": url, "out": "kept", "full": "none", "size_budget": 100_000,
		"token_budget": 9000, "ref": "commit", "fresh": true, "graph": true})
	var in lmstxtInput
	r := c.generated("lmstxt_generate_llms_ctx", map[string]any{"run_id": first})
	if k.inputOf(r.Started, &in); in.Repository != url || in.Budget != 100_000 || !in.Graph || !in.Ctx || in.Full != "none" ||
		in.Tokens != 9000 || in.Ref != "commit" || !in.Fresh {
		t.Errorf("after the run: %+v", in)
	}
	if in.Out != "kept" || r.RunID != first || r.Started == first {
		t.Errorf("run %s into %s, want kept", r.RunID, in.Out)
	}
	if a := c.call("generate", map[string]any{"repository": url, "out": "kept", "model": "down", "require_model": true}); !a.IsError {
		t.Errorf("a model that is down: %s", a.Structured)
	}
	r = c.generated("lmstxt_generate_llms_full", map[string]any{"repo_url": "git@github.com:Plants/garden.git", "output_dir": "./artifacts/kept"})
	in = lmstxtInput{}
	if k.inputOf(r.RunID, &in); in.Budget != 100_000 || in.Full != "selected" {
		t.Errorf("for the repository: %+v", in)
	}
	c.fails("invalid_input", "lmstxt_generate_llms_full", map[string]any{"repo_url": "https://github.com/plants/other", "run_id": first})
	c.fails("invalid_input", "lmstxt_generate_llms_ctx", map[string]any{})
	c.fails("not_found", "lmstxt_generate_llms_ctx", map[string]any{"run_id": "r_nobodys"})
	k.dial("stranger", true).fails("not_found", "lmstxt_generate_llms_ctx", map[string]any{"run_id": first})
}

// generatedBy starts the tool generate, and waits.
func (c *client) generatedBy(arguments map[string]any) messages.RunID {
	c.t.Helper()
	a := c.call("generate", arguments)
	var r struct {
		RunID messages.RunID `json:"run_id"`
	}
	if c.read(a.Structured, &r); a.IsError {
		c.t.Fatalf("generate: %s", a.Structured)
	}
	return r.RunID
}

// The twins stream every event, and end with the record.
func TestStreamingTwins(t *testing.T) {
	k := newKit(t)
	k.inEachEra(func(c *client) {
		for tool, name := range map[string]string{"lmstxt_generate_llms_txt_stream": "url",
			"lmstxt_generate_llms_full_stream": "repo_url", "lmstxt_generate_llms_ctx_stream": "repo_url"} {
			var last float64
			var ids []messages.RunID
			a := c.call(tool, map[string]any{name: url}, func(m message) {
				var p struct {
					Progress float64
					Meta     struct {
						Event *messages.Event `json:"io.github.seed889630bf.lastword/event"`
					} `json:"_meta"`
				}
				if c.read(m.Params, &p); p.Meta.Event == nil {
					return
				}
				if p.Progress <= last || p.Meta.Event.IsTerminal() {
					t.Errorf("event %v after %v", p.Progress, last)
				}
				last = p.Progress
				ids = append(ids, p.Meta.Event.RunID)
			})
			r := c.recordOf(a)
			if a.IsError || r.Status != "completed" || len(ids) < 5 || slices.ContainsFunc(ids, func(id messages.RunID) bool { return id != r.RunID }) {
				t.Errorf("%s: %d events, %+v", tool, len(ids), r)
			}
		}
		k.before = func(context.Context) error { return errors.New("the moon is wrong") }
		a := c.call("lmstxt_generate_llms_txt_stream", map[string]any{"url": url})
		if r := c.recordOf(a); !a.IsError || r.Status != "failed" || !strings.Contains(*r.ErrorMessage, "the moon is wrong") {
			t.Errorf("a failed run: %+v", r)
		}
		k.before = func(context.Context) error { return nil }
	})
}

// Seed: "existing `lmstxt_generate_llms_txt`/`list_runs`/`read_artifact` unchanged". What a run has not written yet has the
// content that the earlier server gave it; a status tells that from a file.
func TestUnfinishedRunsHaveNoFiles(t *testing.T) {
	k := newKit(t)
	opened := make(chan struct{})
	k.before = func(ctx context.Context) error {
		select {
		case <-opened:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c := k.dial("", false)
	r := c.recordOf(c.call("lmstxt_generate_llms_txt", map[string]any{"url": url}))
	for _, name := range []string{"llms.txt", "run.log", "run.events.jsonl"} {
		for _, by := range []map[string]any{{"run_id": r.RunID}, {"repo_url": url}} {
			by["artifact_name"] = name
			if x := c.text("lmstxt_read_artifact", by); x.Content != "Processing..." || x.Truncated || x.Status != "processing" {
				t.Errorf("%v while the run works: %+v", by, x)
			}
		}
		if text, ok := c.resource(fmt.Sprintf("lmstxt://runs/%s/%s", r.RunID, name)); ok {
			t.Errorf("%s of an unfinished run is %q", name, text)
		}
	}
	close(opened)
	c.call("run_wait", map[string]any{"run_id": r.RunID})
	if x := c.text("lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms.txt"}); !strings.HasPrefix(x.Content, "# ") || x.Status != "" {
		t.Errorf("once it has ended: %+v", x)
	}
	if why := c.fails("not_found", "lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms-full.txt"}); !strings.Contains(why, "llms.json") {
		t.Errorf("what the run did not write: %s", why)
	}
}

// Defect 2: offset, limit and total_chars are characters of the whole file, whatever alphabet it is in.
func TestWindowsCountCharacters(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	r := c.generated("lmstxt_generate_llms_full", map[string]any{"repo_url": url})
	i := slices.Index(named(r), "llms-full.txt")
	data, err := os.ReadFile(r.Artifacts[i].Path)
	if err != nil || !strings.Contains(string(data), "жито, 花 and 🌱") {
		t.Fatalf("%v: %s", err, data)
	}
	whole := []rune(string(data))
	ask := func(offset, limit int) text {
		return c.text("lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms-full.txt", "offset": offset, "limit": limit})
	}
	for _, limit := range []int{7, 50, len(whole)} {
		var got strings.Builder
		for at := 0; at < len(whole); at += limit {
			x := ask(at, limit)
			if n := utf8.RuneCountInString(x.Content); n != min(limit, len(whole)-at) || x.Total != len(whole) || x.Truncated != (at+n < len(whole)) {
				t.Fatalf("%d at %d of %d: %d characters, %t, %d in all", limit, at, len(whole), n, x.Truncated, x.Total)
			}
			got.WriteString(x.Content)
		}
		if got.String() != string(data) {
			t.Errorf("in parts of %d it is another text", limit)
		}
	}
	if x := ask(len(whole)+5, 1); x.Content != "" || x.Truncated || x.Total != len(whole) {
		t.Errorf("behind the end: %+v", x)
	}
	for _, bad := range []map[string]any{{"offset": -1}, {"limit": 0}, {"limit": 100_001}, {"artifact_name": "passwd"}} {
		arguments := map[string]any{"run_id": r.RunID, "artifact_name": "llms.txt"}
		maps.Copy(arguments, bad)
		c.fails("invalid_input", "lmstxt_read_artifact", arguments)
	}
}

// Defects 3 and 4: a model that is down is not passed over in silence, and fails the run where it was required.
func TestAModelThatIsDown(t *testing.T) {
	k := newKit(t)
	c := k.dial("", false)
	id := c.generatedBy(map[string]any{"repository": url, "model": "m"})
	for _, r := range c.runs() {
		if r.RunID == id && (r.Status != "completed" || !r.UsedFallback || r.FallbackReason == nil || *r.FallbackReason != "provider_error") {
			t.Errorf("the fallback: %+v", r)
		}
	}
	a := c.call("generate", map[string]any{"repository": url, "model": "m", "require_model": true})
	r := c.runs()[0]
	if !a.IsError || r.Status != "failed" || r.UsedFallback || r.ErrorMessage == nil || !strings.Contains(*r.ErrorMessage, "nothing answers") {
		t.Errorf("a required model: %+v", r)
	}
}

// Defect 5: no name leads out of the caller's folder.
func TestNoNameLeadsOut(t *testing.T) {
	k := newKit(t)
	k.inEachEra(func(c *client) {
		c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true})
		home := filepath.Join(k.root, "anybody")
		outside := t.TempDir()
		for _, name := range []string{"graph/repo.graph.json", "graph/nodes/x.md", "secret.txt"} {
			put(t, filepath.Join(outside, name), "secret")
			put(t, filepath.Join(k.root, "else", name), "secret")
		}
		link := filepath.Join(home, "link")
		_ = os.Remove(link)
		must(t, os.Symlink(outside, link))
		for _, base := range []string{outside, "../else", "link", "plants/../../else", "/" + outside, `..\else`, "%2e%2e/else"} {
			for tool, arguments := range map[string]map[string]any{
				"lmstxt_read_graph_artifact":  {"filename": base + "/graph/repo.graph.json"},
				"lmstxt_read_repo_graph_node": {"repo_id": base, "node_id": "x"},
			} {
				if a := c.call(tool, arguments); !a.IsError || strings.Contains(string(a.Structured), "secret\"") {
					t.Errorf("%s %v: %s", tool, arguments, a.Structured)
				}
			}
			for _, uri := range []string{"lmstxt://artifacts/" + base + "/secret.txt", "lmstxt://graphs/" + base + "/graph/repo.graph.json",
				"repo://" + base + "/graph/nodes/x"} {
				if got, ok := c.resource(uri); ok {
					t.Errorf("%s is %q", uri, got)
				}
			}
			if base == "link" {
				continue // the job itself refuses to write through it
			}
			if base != `..\else` && base != "%2e%2e/else" { // names like any other here
				c.fails("invalid_input", "lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": base})
				c.fails("invalid_input", "generate", map[string]any{"repository": url, "out": base})
				c.fails("invalid_input", "lmstxt_read_artifact", map[string]any{"repo_url": url, "output_dir": base, "artifact_name": "llms.txt"})
			}
		}
		for _, node := range []string{"../repo.graph", "../../../../../else/graph/nodes/x", `..\x`, "x/../y"} {
			c.fails("invalid_input", "lmstxt_read_repo_graph_node", map[string]any{"repo_id": "plants/garden", "node_id": node})
		}
		for _, name := range []string{"plants/garden/garden-llms.txt", "graph", "plants/garden/graph/nodes"} {
			c.fails("invalid_input", "lmstxt_read_graph_artifact", map[string]any{"filename": name})
		}
		if a := c.call("lmstxt_list_all_artifacts", nil); strings.Contains(string(a.Structured), "secret") {
			t.Errorf("the list follows links: %s", a.Structured)
		}
	})
}

func put(t *testing.T, name, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
}

// Defects 6 and 7: every URI that is listed can be read, and is what was written; one id names a run for every resource, and
// its events.
func TestListedURIsResolve(t *testing.T) {
	k := newKit(t)
	k.inEachEra(func(c *client) {
		r := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true, "output_dir": "a folder/ü"})
		home := filepath.Join(k.root, "anybody")
		n := 0
		for _, tool := range []string{"lmstxt_list_all_artifacts", "lmstxt_list_graph_artifacts"} {
			a := c.call(tool, nil)
			var list struct {
				Artifacts []struct {
					Filename string
					Bytes    int64  `json:"size_bytes"`
					Modified string `json:"last_modified"`
					URI      string
				}
			}
			c.read(a.Structured, &list)
			var said []any
			if c.read(json.RawMessage(a.Content[0].Text), &said); len(said) != len(list.Artifacts) {
				t.Errorf("%s: the text lists %d files", tool, len(said))
			}
			for _, f := range list.Artifacts {
				n++
				data, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(f.Filename)))
				if got, ok := c.resource(f.URI); !ok || err != nil || got != string(data) || f.Bytes != int64(len(data)) {
					t.Errorf("%s: %t, %v", f.URI, ok, err)
				}
				if tool == "lmstxt_list_graph_artifacts" {
					if x := c.text("lmstxt_read_graph_artifact", map[string]any{"filename": f.Filename}); x.Content != string(data) {
						t.Errorf("%s: %+v", f.Filename, x)
					}
				}
			}
		}
		for _, a := range r.Artifacts {
			data, err := os.ReadFile(a.Path)
			if a.Path == "" {
				continue // a log
			}
			for _, uri := range []string{fmt.Sprintf("lmstxt://runs/%s/%s", r.RunID, a.Name), fmt.Sprintf("run://%s/artifacts/%s", r.RunID, a.Name)} {
				if got, ok := c.resource(uri); !ok || err != nil || got != string(data) {
					t.Errorf("%s: %t %v", uri, ok, err)
				}
			}
		}
		x := c.text("lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "run.events.jsonl"})
		for line := range strings.Lines(x.Content) {
			var e messages.Event
			if c.read(json.RawMessage(line), &e); e.RunID != r.RunID {
				t.Errorf("an event of %s", e.RunID)
			}
		}
		if n < 4 {
			t.Errorf("%d files are listed", n)
		}
	})
}

// Defect 8: by its repository is read what the last run wrote, its log as well.
func TestReadingByRepository(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	full := c.generated("lmstxt_generate_llms_full", map[string]any{"repo_url": url})
	last := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": "plants/garden"})
	by := func(repository, name string) string {
		return c.text("lmstxt_read_artifact", map[string]any{"repo_url": repository, "artifact_name": name, "limit": 100_000}).Content
	}
	for _, repository := range []string{url, url + "/", url + ".git", "git@github.com:plants/garden.git", "plants/garden"} {
		if events := by(repository, "run.events.jsonl"); !strings.Contains(events, string(last.RunID)) || !strings.HasSuffix(events, "}\n") ||
			!strings.Contains(events, `"run.completed"`) {
			t.Errorf("%s: the events are %s", repository, events)
		}
		if log := by(repository, "run.log"); !strings.Contains(log, "generate completed") || !strings.Contains(log, "run.queued") {
			t.Errorf("%s: the log is %s", repository, log)
		}
		if text := by(repository, "llms.txt"); !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: %q", repository, text)
		}
		data, err := os.ReadFile(full.Artifacts[1].Path)
		if text := by(repository, "llms-full.txt"); err != nil || text != string(data) {
			t.Errorf("%s: what the run before wrote is %q", repository, text)
		}
	}
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"repo_url": url, "artifact_name": "llms-ctx.txt"})
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"repo_url": url, "artifact_name": "trace.json"})
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"repo_url": url, "artifact_name": "run.log", "output_dir": "other"})
	c.fails("invalid_input", "lmstxt_read_artifact", map[string]any{"artifact_name": "run.log"})
}

// Files outlive what is known of the runs that wrote them.
func TestFilesThatNobodyRemembers(t *testing.T) {
	k := newKit(t)
	k.dial("", true).generated("lmstxt_generate_llms_full", map[string]any{"repo_url": url})
	local := k.dial("", true).generated("lmstxt_generate_llms_txt", map[string]any{"url": k.source})
	const shed = "https://github.com/plants/shed" // whose files have the names of generate
	k.dial("", true).call("generate", map[string]any{"repository": shed})
	later := newKit(t)
	must(t, os.CopyFS(later.root, os.DirFS(k.root)))
	c := later.dial("", true)
	for repository, name := range map[string]string{url: "llms-full.txt", shed: "llms-full.txt", filepath.Join(filepath.Dir(k.source), "garden"): "llms.txt"} {
		x := c.text("lmstxt_read_artifact", map[string]any{"repo_url": repository, "artifact_name": name})
		if x.Total == 0 {
			t.Errorf("%s of %s is empty, %v", name, repository, local.Artifacts)
		}
	}
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"repo_url": url, "artifact_name": "run.log"})
}

// Defect 9: a run can be cancelled, and one whose worker dies fails.
func TestRunsEnd(t *testing.T) {
	k := newKit(t)
	begun := make(chan struct{}, 1)
	k.before = func(ctx context.Context) error {
		begun <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	c := k.dial("", false)
	r := c.recordOf(c.call("lmstxt_generate_llms_txt", map[string]any{"url": url}))
	<-begun
	c.call("run_cancel", map[string]any{"run_id": r.RunID})
	c.call("run_wait", map[string]any{"run_id": r.RunID})
	if r := c.runs()[0]; r.Status != "canceled" || r.ErrorMessage == nil || named(r) != nil {
		t.Errorf("after a cancel: %+v", r)
	}
	c.fails("not_found", "lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms.txt"})
	k.before = func(context.Context) error { panic("the worker is dead") }
	if r := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url}); r.Status != "failed" ||
		!strings.Contains(*r.ErrorMessage, "the worker is dead") {
		t.Errorf("after a crash: %+v", r)
	}
}

// Callers see neither each other's runs nor each other's files. Looking for files makes no folder.
func TestCallersAreApart(t *testing.T) {
	k := newKit(t)
	r := k.dial("owner", true).generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true})
	stranger := k.dial("stranger", true)
	if runs := stranger.runs(); len(runs) != 0 {
		t.Errorf("runs of others: %+v", runs)
	}
	for _, tool := range []string{"lmstxt_list_all_artifacts", "lmstxt_list_graph_artifacts"} {
		if a := stranger.call(tool, nil); string(a.Structured) != `{"artifacts":[]}` || a.Content[0].Text != "[]" {
			t.Errorf("%s: %s", tool, a.Structured)
		}
	}
	stranger.fails("not_found", "lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms.txt"})
	stranger.fails("not_found", "lmstxt_read_artifact", map[string]any{"repo_url": url, "artifact_name": "llms.txt"})
	stranger.fails("not_found", "lmstxt_read_repo_graph_node", map[string]any{"repo_id": "plants/garden", "node_id": "soil"})
	stranger.fails("not_found", "lmstxt_read_graph_artifact", map[string]any{"filename": "plants/garden/graph/repo.graph.json"})
	if _, err := os.Stat(filepath.Join(k.root, "stranger")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking left a folder: %v", err)
	}
	for _, uri := range []string{"lmstxt://runs/" + string(r.RunID) + "/llms.txt", "lmstxt://artifacts/plants/garden/garden-llms.txt"} {
		if got, ok := stranger.resource(uri); ok {
			t.Errorf("%s is %q", uri, got)
		}
	}
}

// A caller from elsewhere is told where files are in its own folder, and not where the server has that.
func TestRemoteCallersSeeNoFolderOfTheServer(t *testing.T) {
	k := newKitIn(t, t.TempDir(), "")
	k.inEachEra(func(c *client) {
		r := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "output_dir": "deep/er", "generate_graph": true})
		if want := filepath.FromSlash("deep/er/plants/garden/garden-llms.txt"); r.Artifacts[0].Path != want {
			t.Errorf("written to %s, want %s", r.Artifacts[0].Path, want)
		}
		a := []answer{c.call("lmstxt_list_runs", nil), c.call("run_get", map[string]any{"run_id": r.RunID}),
			c.call("run_events", map[string]any{"run_id": r.RunID, "max": 1000}),
			c.call("lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "run.events.jsonl", "limit": 100_000})}
		for _, a := range a {
			if text := string(a.Structured); text == "" || strings.Contains(text, k.root) {
				t.Errorf("the server's folder is in %s", text)
			}
		}
	})
}

// There may be more pages than a model can read: what is not one is listed before them, and records leave them out.
func TestListsHaveAnEnd(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	r := c.generated("lmstxt_generate_llms_txt", map[string]any{"url": url, "generate_graph": true})
	if got := named(r); !slices.Contains(got, "repo.graph.json") || slices.ContainsFunc(got, func(name string) bool {
		return strings.Contains(name, "/")
	}) {
		t.Errorf("the record has %v", got)
	}
	for i := range 300 {
		put(t, filepath.Join(k.root, "anybody", "a", "b", "graph", "nodes", fmt.Sprintf("%03d.md", i)), "# page\n")
	}
	a := c.call("lmstxt_list_graph_artifacts", nil)
	var list struct{ Artifacts []struct{ Filename string } }
	c.read(a.Structured, &list)
	if n := len(list.Artifacts); n != 200 || !strings.HasSuffix(list.Artifacts[0].Filename, "repo.force.json") ||
		!strings.HasSuffix(list.Artifacts[1].Filename, "repo.graph.json") {
		t.Errorf("%d files, the first %v", n, list.Artifacts[:2])
	}
	if said := c.call("run_get", map[string]any{"run_id": r.RunID}).Content[0].Text; !strings.Contains(said, "2 more") ||
		!strings.Contains(said, "run_read") {
		t.Errorf("the result says %s", said)
	}
}

// What is read of XML is XML: a model is not to see escapes in its place.
func TestTextsAreReadAsTheyAre(t *testing.T) {
	k := newKit(t)
	c := k.dial("", true)
	r := c.generated("lmstxt_generate_llms_ctx", map[string]any{"repo_url": url})
	a := c.call("lmstxt_read_artifact", map[string]any{"run_id": r.RunID, "artifact_name": "llms-ctx.txt"})
	if said := a.Content[0].Text; !strings.Contains(said, "<project") || strings.Contains(said, `\u003c`) {
		t.Errorf("the text is %.200s", said)
	}
}
