package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/plan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// readyPlan is a plan of docs/plans as a caller sends it.
func readyPlan(t *testing.T, name string, params map[string]any) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/plans", name+".yaml"))
	must(t, err)
	data, err := json.Marshal(map[string]any{"plan": string(text), "params": params})
	must(t, err)
	return string(data)
}

// Each plan of docs/plans runs: the demo by command, tool and HTTP.
func TestReadyPlans(t *testing.T) {
	plans, err := filepath.Glob("../../docs/plans/*.yaml")
	if err != nil || len(plans) != 3 {
		t.Fatalf("%v: run each of %v below", err, plans)
	}
	m := testkit.NewModel(t)
	m.Always(testkit.Text("To grow things."), testkit.Finish("stop"), testkit.Done())
	dir := plant(t, gardenText)
	s := speak(t, dir, "--tools", "plan", "--base-url", m.URL(), "--model", "scripted")
	for name, c := range map[string]struct {
		params map[string]any
		want   string
	}{
		"demo":         {map[string]any{"repository": "garden"}, "Grows things."},
		"question":     {map[string]any{"repository": "garden", "question": "What for?"}, "To grow things."},
		"repositories": {map[string]any{"repositories": []any{"garden", "nowhere"}}, `["completed","failed"]`},
	} {
		a := s.call("plan_run", readyPlan(t, name, c.params))
		if a.IsError || !strings.Contains(string(a.Structured.Result), c.want) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	checked := s.call("plan_check", `{"plan":"steps:\n  - name: a\n    job: sing\n"}`)
	if text := checked.Content[0].Text; checked.IsError || !strings.Contains(text, `"line":3,"column":10`) {
		t.Errorf("%s", text)
	}
	if a := s.call("plan_run", `{"plan":{"steps":[{"name":"a","job":"sing"}]}}`); !a.IsError {
		t.Errorf("%+v", a)
	}
	s.ends()

	server := serveHTTP(t, dir, "--allow-local")
	client, err := api.New(strings.TrimSuffix(server.url, "/mcp"), "")
	must(t, err)
	input := json.RawMessage(readyPlan(t, "demo", map[string]any{"repository": filepath.Join(dir, "garden")}))
	id, err := client.Submit(t.Context(), messages.Request{Job: plan.Name, Input: input})
	must(t, err)
	if state := ended(t.Context(), t, client, id); state.Status != messages.Completed ||
		!strings.Contains(string(state.End.Result), "Grows things.") {
		t.Errorf("%+v", state.End)
	}
	got := run(t, nil, "plan", "show", string(id), "--server", strings.TrimSuffix(server.url, "/mcp"))
	if got.code != 0 || !strings.Contains(got.stdout, "text starts: full completed") {
		t.Errorf("plan show: %+v", got)
	}
}

// ended is the run's state at its end.
func ended(ctx context.Context, t *testing.T, client *api.Client, id messages.RunID) messages.State {
	t.Helper()
	for _, err := range client.Follow(ctx, id, messages.FollowOptions{}) {
		must(t, err)
	}
	state, err := client.State(ctx, id)
	must(t, err)
	return state
}

// firstQuestion waits for the run's first question and returns its name.
func firstQuestion(ctx context.Context, t *testing.T, client *api.Client, id messages.RunID) string {
	t.Helper()
	for e, err := range client.Follow(ctx, id, messages.FollowOptions{}) {
		must(t, err)
		if in, ok := e.Body.(messages.InputRequired); ok {
			return in.Request
		}
	}
	t.Fatalf("run %s asks nothing", id)
	return ""
}

// publishing writes a file, asks an ordinary question, which every client may answer, and writes another.
//
//go:embed testdata/publishing.yaml
var publishing string

//go:embed testdata/wrongly.yaml
var wrongly string

//go:embed testdata/asks-twice.yaml
var asksTwice string

// A plan that waits for people goes on with the answer after kill -9 of its server, and writes nothing twice.
func TestPlanWaitsOverKill(t *testing.T) {
	dir := t.TempDir()
	start := func() *served { return serving(t, binary(t, dir, "serve", "--unix", dir+"/s", "--state", dir+"/kept")) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := start()
	client, err := api.New("unix:"+dir+"/s", "")
	must(t, err)
	input, err := json.Marshal(map[string]any{"plan": publishing})
	must(t, err)
	id, err := client.Submit(ctx, messages.Request{Job: plan.Name, Input: input})
	must(t, err)
	request := firstQuestion(ctx, t, client, id)
	server.ends(syscall.SIGKILL)
	start()
	must(t, client.Answer(ctx, id, request, json.RawMessage(`true`)))
	state := ended(ctx, t, client, id)
	text, err := os.ReadFile(filepath.Join(dir, "artifacts", "out.txt"))
	if err != nil || string(text) != "a draft, published" || state.Status != messages.Completed || len(state.Children) != 3 {
		t.Errorf("%v: %q after %s %+v", err, text, state.Status, state.End)
	}
}

// A plan that failed goes on from a step, with the results of the run before: by command, and over HTTP for its caller.
func TestPlanFrom(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	put(t, file, wrongly)
	plan1 := func(args ...string) ran {
		return run(t, nil, append([]string{"plan", "run", file, "--state", dir + "/kept", "--out", dir + "/out", "--json"}, args...)...)
	}
	var first struct {
		ID messages.RunID `json:"run_id"`
	}
	if got := plan1("--param", "file=b.txt"); got.code == 0 || json.Unmarshal([]byte(got.stdout), &first) != nil {
		t.Fatalf("%+v", got)
	}
	got := plan1("--param", "file=a.txt", "--from", "b", "--run", string(first.ID))
	if got.code != 0 || !strings.Contains(got.stdout, `"result": "hello"`) || !strings.Contains(got.stderr, "a is taken over") {
		t.Errorf("%+v", got)
	}
	if got := run(t, nil, "plan", "run", file, "--from", "b", "--run", "r_x"); !strings.Contains(got.stderr, "--state") {
		t.Errorf("%+v", got)
	}

	tokens := map[string]string{"ada": tokenFor(t, dir, "ada"), "bob": tokenFor(t, dir, "bob")}
	server := serveHTTP(t, dir, "--tokens", "tokens")
	as := func(name string) func(input map[string]any) messages.State {
		client, err := api.New(strings.TrimSuffix(server.url, "/mcp"), tokens[name])
		must(t, err)
		return func(input map[string]any) messages.State {
			input["plan"] = wrongly
			data, err := json.Marshal(input)
			must(t, err)
			id, err := client.Submit(t.Context(), messages.Request{Job: plan.Name, Input: data})
			must(t, err)
			return ended(t.Context(), t, client, id)
		}
	}
	before := as("ada")(map[string]any{"params": map[string]any{"file": "b.txt"}})
	again := map[string]any{"params": map[string]any{"file": "a.txt"}, "from": "b", "run": before.RunID}
	if after := as("ada")(again); string(after.End.Result) != `"hello"` || len(after.Children) != 1 {
		t.Errorf("%+v", after.End)
	}
	if stranger := as("bob")(again); stranger.Status != messages.Failed || !strings.Contains(stranger.End.Error.Message, "there is no run") {
		t.Errorf("%+v", stranger.End)
	}
}

// A plan that asks needs a terminal, or a place where others answer, and says so.
func TestPlanAsksNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.yaml")
	put(t, file, `steps: [{name: a, ask: {prompt: "Sure?"}}]`)
	if got := run(t, nil, "plan", "run", file); got.code == 0 || !strings.Contains(got.stderr, "lastword runs answer") {
		t.Errorf("%+v", got)
	}
}

// Without a terminal a plan that asks prints the commands that answer, which do, and waits for them: at a server, and
// with its own folder.
func TestPlanAsksElsewhere(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "plan.yaml"), asksTwice)
	url := strings.TrimSuffix(serveHTTP(t, dir).url, "/mcp")
	for _, place := range [][]string{{"--server", url}, {"--state", filepath.Join(dir, "kept")}} {
		var stdout bytes.Buffer
		cmd := binary(t, dir, append([]string{"plan", "run", "plan.yaml"}, place...)...)
		cmd.Stdout = &stdout
		stderr, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if args, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), "lastword "); found {
				if got := run(t, nil, strings.Fields(strings.ReplaceAll(args, "'", ""))...); got.code != 0 {
					t.Errorf("%s: %+v", args, got)
				}
			}
		}
		if err := cmd.Wait(); err != nil || stdout.String() != "1 copies\n" {
			t.Errorf("%v: %v, %q", place, err, stdout.String())
		}
	}
}
