package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

const description = `{"purpose":"Garden grows things for people.","notes":[]}`

// seededGarden is a folder to describe.
func seededGarden(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "garden")
	must(t, os.Mkdir(dir, 0o755))
	for name, text := range map[string]string{"README.md": "# Garden\n\nGrows things.\n",
		"garden.py": "def grow():\n    \"\"\"Grows.\"\"\"\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// generated runs lastword generate --jsonl with the model and returns its exit code and what its events add up to. An
// event after the terminal, a second one among them, fails the test.
func generated(t *testing.T, env []string, m *testkit.Model, flags ...string) (int, messages.State) {
	t.Helper()
	got := run(t, env, append([]string{"generate", seededGarden(t), "--out", t.TempDir(), "--jsonl", "--no-cache",
		"--base-url", m.URL(), "--model", "scripted"}, flags...)...)
	var state messages.State
	for line := range strings.Lines(got.stdout) {
		var e messages.Event
		must(t, json.Unmarshal([]byte(line), &e))
		next, err := state.Apply(e)
		must(t, err)
		state = next
	}
	if state.End == nil {
		t.Fatalf("exit code %d without a terminal; stderr:\n%s", got.code, got.stderr)
	}
	return got.code, state
}

// What a check of the server has learned is where the ladder begins, and what is known of the model it asked.
func TestGenerateGoesByTheProfile(t *testing.T) {
	env := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	m := testkit.NewModel(t)
	m.Always(testkit.Text(description), testkit.Finish("stop"), testkit.Done())
	at := settings.Endpoint{BaseURL: m.URL(), Env: env}
	learned := probe.Profile{Schema: probe.Schema, BaseURL: m.URL(), Model: "scripted", Structured: "json_object", Context: 5000}
	learned.Server.Thoughts, learned.Server.Model = "implicit", "scripted" // but not where they are switched off
	learned.Server.Off = map[string]json.RawMessage{"reasoning_effort": json.RawMessage(`"none"`)}
	must(t, learned.Write(at.ProfileFile()))
	if code, state := generated(t, env, m, "--require-model"); code != exit.Completed || state.End.Degraded {
		t.Errorf("exit code %d, %+v", code, state.End)
	}
	requests := m.Requests()
	body := string(requests[len(requests)-1].Body)
	if !strings.Contains(body, `"type":"json_object"`) || !strings.Contains(body, `"reasoning_effort":"none"`) {
		t.Errorf("asked with %s", body)
	}
}

// Contract, section 7: "Budgets are computed from the model's loaded context." A server that says its context is
// never asked for too much, and one that says nothing is asked again with less.
func TestGenerateKeepsToTheContext(t *testing.T) {
	for dialect, says := range map[standin.Dialect]bool{standin.LMStudio: true, standin.OpenAI: false} {
		m := standin.NewModelWith(t, testkit.ModelOptions{Dialect: dialect,
			Models: []standin.ServedModel{{ID: "scripted", Loaded: true, Context: 3100}}})
		dir := seededGarden(t)
		long := "# Garden\n\n" + strings.Repeat("It grows a great many things of all kinds.\n", 2000)
		must(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte(long), 0o644))
		got := run(t, nil, "generate", dir, "--out", t.TempDir(), "--jsonl", "--no-cache", "--base-url", m.URL(),
			"--model", "scripted") // the echo that answers is no description
		less := strings.Count(got.stdout, "the model's context is too small")
		rejected := strings.Count(got.stdout, "the previous answer was rejected")
		if (less == 0) != says || rejected == 0 || strings.Count(got.stdout, `"type":"run.completed"`) != 1 {
			t.Errorf("%q: %d times with less, %d answers rejected:\n%s", dialect, less, rejected, got.stdout)
		}
	}
}
