package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

const gardenText = "# Garden\n\nGrows things.\n"

// A client may start a server only to see what it is: nothing of that is left.
func TestMCPStartsWithoutATrace(t *testing.T) {
	dir := t.TempDir()
	s := speak(t, dir, "--tools", "lmstxt")
	for _, list := range []string{"run_list", "lmstxt_list_runs", "lmstxt_list_all_artifacts", "lmstxt_list_graph_artifacts"} {
		if a := s.call(list, `{}`); a.IsError {
			t.Errorf("%s: %+v", list, a)
		}
	}
	if code := s.ends(); code != exit.Completed || s.stderr.Len() > 0 || filesIn(t, dir) != "" {
		t.Errorf("exit code %d, stderr %q, files %q", code, s.stderr.String(), filesIn(t, dir))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}

func TestMCPStreamsARun(t *testing.T) {
	dir := plant(t, gardenText)
	s := speak(t, dir)
	done := s.call("generate", `{"repository":"garden","full":"none"}`)
	var state messages.State
	for i, e := range done.events {
		next, err := state.Apply(e)
		if err != nil || e.From != uint64(i+1) {
			t.Fatalf("event %d: %d..%d, %v", i, e.From, e.Seq, err)
		}
		state = next
	}
	if done.IsError || done.Structured.Status != "completed" || state.RunID != done.Structured.RunID ||
		len(state.Artifacts) != 2 {
		t.Fatalf("%+v, %d artifacts", done, len(state.Artifacts))
	}
	const want = "local/garden/llms.json local/garden/llms.txt"
	if got := filesIn(t, filepath.Join(dir, "artifacts")); got != want {
		t.Errorf("it wrote %q, want %q", got, want)
	}
	text := s.read(done.uri())
	written, err := os.ReadFile(filepath.Join(dir, "artifacts", "local", "garden", "llms.txt"))
	if err != nil || text != string(written) || !strings.HasPrefix(text, "# Garden") {
		t.Errorf("the resource is %q, the file %q, %v", text, written, err)
	}
	if code := s.ends(); code != exit.Completed || s.stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, s.stderr.String())
	}
}

// read is the text of a resource, or why there is none.
func (s *mcpSession) read(uri string) string {
	s.t.Helper()
	m := s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
	if m.Error != nil {
		return string(m.Error)
	}
	var r struct {
		Contents []struct{ Text string }
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Contents) != 1 {
		s.t.Fatalf("%v: %s", err, m.Result)
	}
	return r.Contents[0].Text
}

// "serve --model is the default for callers who ask for a model; it does not make every generate use one."
func TestGenerateAsksNoModelUnasked(t *testing.T) {
	m := testkit.NewModel(t)
	s := speak(t, plant(t, gardenText), "--base-url", m.URL(), "--model", "scripted")
	if a := s.call("generate", `{"repository":"garden","no_cache":true}`); a.IsError || len(m.Requests()) > 0 {
		t.Errorf("%+v after %d requests of the model", a, len(m.Requests()))
	}
	s.ends()
}

// describing starts a run that waits for its model, and returns when it does.
func (s *mcpSession) describing(m *testkit.Model) (messages.RunID, *testkit.Exchange) {
	s.t.Helper()
	x := m.Step(testkit.Role(), testkit.Text(description), testkit.Finish("stop"), testkit.Done())
	a := s.call("run_start", `{"job":"generate","input":{"repository":"garden","no_cache":true,"model":"auto"},"detached":true}`)
	if a.IsError {
		s.t.Fatalf("%+v", a)
	}
	<-x.Started()
	return a.Structured.RunID, x
}

// Runs that nobody waits for any more are finished when stdin ends.
func TestMCPFinishesItsRunsAtTheEnd(t *testing.T) {
	m := testkit.NewModel(t)
	dir := plant(t, gardenText)
	s := speak(t, dir, "--base-url", m.URL(), "--model", "scripted")
	_, x := s.describing(m)
	s.in.Close()
	must(t, x.Rest())
	if _, err := s.out.ReadByte(); err == nil {
		t.Error("it speaks after stdin has ended")
	}
	if code := s.ends(); code != exit.Completed || s.stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, s.stderr.String())
	}
	if got := filesIn(t, filepath.Join(dir, "artifacts")); !strings.Contains(got, "local/garden/llms.txt") {
		t.Errorf("it wrote %q", got)
	}
}

// askingPlan starts a plan that asks a question, and nothing else.
const askingPlan = `{"job":"plan_run","input":{"plan":{"steps":[{"name":"sure","ask":{"prompt":"Sure?"}}]}}}`

func TestMCPDoesNotWaitForAnswers(t *testing.T) {
	s := speak(t, t.TempDir(), "--tools", "plan", "--drain", "1h")
	run := s.call("run_start", askingPlan).Structured.RunID
	if a := s.call("run_wait", fmt.Sprintf(`{"run_id":%q}`, run)); a.Structured.Status != "waiting" {
		t.Fatalf("%+v", a)
	}
	if code := s.ends(); code != exit.Failed {
		t.Errorf("exit code %d", code)
	}
}

func TestMCPWaitsNoLongerThanToldTo(t *testing.T) {
	m := testkit.NewModel(t)
	s := speak(t, plant(t, gardenText), "--base-url", m.URL(), "--model", "scripted", "--drain", "50ms")
	s.describing(m)
	if code := s.ends(); code != exit.Failed || !strings.Contains(s.stderr.String(), "were ended") {
		t.Errorf("exit code %d, stderr %q", code, s.stderr.String())
	}
}

func TestMCPLeavesAtASignal(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: exit.Interrupted, syscall.SIGTERM: exit.Terminated} {
		m := testkit.NewModel(t)
		s := speak(t, plant(t, gardenText), "--base-url", m.URL(), "--model", "scripted", "--drain", "1h")
		_, x := s.describing(m)
		s.signal(sig)
		if code := exitCode(t, s.cmd); code != want {
			t.Errorf("%s: exit code %d, want %d; stderr %q", sig, code, want, s.stderr.String())
		}
		<-x.Gone()
	}
}

// cloned makes a folder that is a clone of the remote, and returns its path.
func cloned(t *testing.T, remote string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	for name, text := range map[string]string{
		"README.md": "# Garden\n\nGrows things.\n",
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/heads/x": "",
		".git/config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = " + remote + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// What a clone on this machine came to is found by its folder, also by a server that never ran for it.
func TestMCPFindsFilesByTheFolderOfAClone(t *testing.T) {
	dir, out := cloned(t, "https://example.com/plants/garden.git"), t.TempDir()
	s := speak(t, dir, "--out", out, "--tools", "lmstxt")
	if a := s.call("lmstxt_generate_llms_txt_stream", `{"url":"."}`); a.IsError {
		t.Fatalf("%+v", a)
	}
	s.ends()
	_, err := os.Stat(filepath.Join(out, "plants", "garden", "garden-llms.txt"))
	must(t, err)
	s = speak(t, dir, "--out", out, "--tools", "lmstxt")
	for _, name := range []string{".", dir, dir + "/", "https://example.com/plants/garden", "git@example.com:plants/garden.git",
		"https://example.com/plants/garden@v1", "https://example.com/plants/garden/-/blob/main/README.md"} {
		a := s.call("lmstxt_read_artifact", `{"artifact_name":"llms.txt","repo_url":"`+name+`"}`)
		if a.IsError || !strings.Contains(a.Content[0].Text, "# Garden") {
			t.Errorf("%s: %+v", name, a.Content)
		}
	}
	s.ends()
}

// A run is found by the very words that it was started with, whatever its input makes of them.
func TestMCPFindsRunsByTheNamesTheyWereGiven(t *testing.T) {
	dir := cloned(t, "https://example.com/plants/garden.git")
	s := speak(t, filepath.Dir(dir), "--tools", "lmstxt")
	for _, name := range []string{"mine", "./mine/../mine", "https://git.invalid/plants/garden/-/blob/main/README.md",
		"git.invalid/plants/garden", "https://git.invalid/plants/garden/-/tree/main/docs?plain=1", "https://GIT.invalid:443/plants/garden.git"} {
		a := s.call("lmstxt_generate_llms_txt_stream", `{"url":"`+name+`"}`)
		id := string(a.Structured.RunID)
		if id == "" {
			t.Fatalf("%s: %+v", name, a)
		}
		a = s.call("lmstxt_read_artifact", `{"artifact_name":"run.events.jsonl","repo_url":"`+name+`"}`)
		if a.IsError || !strings.Contains(a.Content[0].Text, id) {
			t.Errorf("%s: %+v", name, a.Content)
		}
		if a = s.call("lmstxt_generate_llms_full_stream", `{"repo_url":"`+name+`","run_id":"`+id+`"}`); a.Structured.RunID == "" {
			t.Errorf("%s: %+v", name, a.Content)
		}
	}
	s.ends()
}
