package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
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

func completion(t *testing.T, events []messages.Event) messages.LLMCompleted {
	t.Helper()
	var found []messages.LLMCompleted
	for _, e := range events {
		if b, ok := e.Body.(messages.LLMCompleted); ok {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d calls were completed, want 1", len(found))
	}
	return found[0]
}

// Each fault ends the run once and in the right cause.
func TestPromptFaults(t *testing.T) {
	seen := map[messages.Code]bool{}
	faults := testkit.ModelFaults()
	for _, f := range faults {
		if f.Calls > 1 {
			continue // it takes a client that lives longer than one prompt
		}
		m := testkit.NewModel(t)
		m.Break(f)
		flags := []string{"--profile", f.Profile, "--retries", "0"}
		if f.Watchdog {
			flags = append(flags, "--first-token", "100ms", "--idle", "100ms")
		}
		code, state, events := promptEvents(t, nil, m, flags...)
		said := completion(t, events)
		t.Logf("%-35s %-9s %-22s exit %d  %s", f.Name, said.Verdict, said.Evidence, code, state.End.Cause)
		text, _ := state.Stream(prompt.Stream)
		if state.End.Cause != f.Cause || text.Text() != f.Text || text.Closed != (f.Cause == "") {
			t.Errorf("%s: %s, %s with %q, want %q with %q", f.Name, state.Status, state.End.Cause, text.Text(), f.Cause, f.Text)
		}
		if f.Cause != "" && (said.Error == nil || said.Error.Code != f.Cause || code == exit.Completed) {
			t.Errorf("%s: the call ended with %+v, the program with %d", f.Name, said.Error, code)
		}
		if state.End.Degraded != (f.Truncated || f.Filtered) {
			t.Errorf("%s: degraded is %t", f.Name, state.End.Degraded)
		}
		seen[f.Cause] = true
	}
	if len(faults) < 12 || len(seen) < 5 {
		t.Errorf("%d faults with %d causes", len(faults), len(seen))
	}
}

// A cancel closes the connection to the model, whatever the model is at: the server sees it while nobody has read the
// terminal.
func TestPromptCancelClosesTheConnection(t *testing.T) {
	for name, pieces := range map[string][]testkit.Piece{
		"before the header":     {testkit.Stall()},
		"before the first word": {testkit.Head(), testkit.Stall()},
		"among the words":       {testkit.Text("Hel"), testkit.Stall()},
		"among thoughts":        {testkit.Thought("Hm"), testkit.Stall()},
		"in a frame":            {testkit.Text("Hel"), testkit.Send(`data: {"choi`), testkit.Stall()},
	} {
		m := testkit.NewModel(t)
		x := m.Answer(pieces...)
		client, err := llm.New(llm.Config{BaseURL: m.URL()})
		must(t, err)
		events := cancelPrompt(t, client, x, name == "among the words" || name == "in a frame")
		last := events[len(events)-1]
		said := completion(t, events)
		if said.Verdict != "canceled" || last.Kind() != messages.KindRunCanceled {
			t.Errorf("%s: the call ended as %s, the run in %s", name, said.Verdict, last.Kind())
		}
		client.Close()
	}
}

// cancelPrompt cancels a prompt when its request has come and, where a word is to come, that word was read. It reads
// no further than run.canceling before the server has seen the connection close.
func cancelPrompt(t *testing.T, client *llm.Client, x *testkit.Exchange, word bool) []messages.Event {
	t.Helper()
	system, err := actors.New(t.Context(), actors.Config{})
	must(t, err)
	defer system.Close(context.Background())
	job, err := prompt.Job(prompt.Input{Text: "Hi", Model: "scripted"}, prompt.Config{Stream: client.Stream})
	must(t, err)
	run, err := system.Start(t.Context(), job, actors.Options{})
	must(t, err)
	var events []messages.Event
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		events = append(events, e)
		switch e.Body.(type) {
		case messages.LLMStarted:
			<-x.Started()
			if !word {
				run.Cancel(t.Context(), "enough")
			}
		case messages.TextDelta:
			run.Cancel(t.Context(), "enough")
		case messages.RunCanceling:
			if !within(x.Gone()) {
				t.Fatal("the server does not see that the connection was closed")
			}
		}
	}
	return events
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
