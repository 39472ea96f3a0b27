package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// promptEvents runs lastword prompt --jsonl against the server and returns its exit code and what its events add up
// to.
func promptEvents(t *testing.T, env []string, m *testkit.Model, flags ...string) (int, messages.State, []messages.Event) {
	t.Helper()
	got := run(t, env, append([]string{"prompt", "Hi", "--jsonl", "--base-url", m.URL(), "--model", "scripted"}, flags...)...)
	var state messages.State
	var events []messages.Event
	for line := range strings.Lines(got.stdout) {
		var e messages.Event
		must(t, json.Unmarshal([]byte(line), &e))
		next, err := state.Apply(e)
		must(t, err)
		state, events = next, append(events, e)
	}
	if state.End == nil {
		t.Fatalf("exit code %d without a terminal; stderr:\n%s", got.code, got.stderr)
	}
	return got.code, state, events
}

// The first words are on stdout while the model keeps the last.
func TestPrintsAsItComes(t *testing.T) {
	for _, command := range [][]string{{"prompt", "Hi"}, {"chat", "-m", "Hi"}, {"chat", "--stages", "--repository", t.TempDir(), "-m", "Hi"}} {
		m := testkit.NewModel(t)
		last := make(chan struct{})
		if slices.Contains(command, "--stages") {
			m.Answer(testkit.Text(`{"intent":"chat","needs_search":false,"search_query":""}`), testkit.Finish("stop"), testkit.Done())
		}
		m.Always(testkit.Text("Hel"), testkit.Until(last), testkit.Text("lo"), testkit.Finish("stop"), testkit.Done())
		out := &firstWrite{first: last}
		var stderr bytes.Buffer
		args := append(command, "--base-url", m.URL(), "--model", "scripted", "--idle", "20s")
		p := host.Program{Args: args, Stdout: out, Stderr: &stderr, Commands: rootCommand}
		code := p.Run(t.Context())
		if code != exit.Completed || out.text != "Hello\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr:\n%s", command[0], code, out.text, stderr.String())
		}
	}
}

// firstWrite tells of the first write.
type firstWrite struct {
	text  string
	first chan struct{}
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.text == "" {
		defer close(w.first)
	}
	w.text += string(p)
	return len(p), nil
}
