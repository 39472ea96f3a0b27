package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// promptEvents runs lastword prompt --jsonl against the server and returns its exit code and what its events add up to.
func promptEvents(t *testing.T, m *testkit.Model, flags ...string) (int, messages.State, []messages.Event) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"prompt", "Hi", "--jsonl", "--base-url", m.URL(), "--model", "scripted"}, flags...)
	code := run(t.Context(), args, &stdout, &stderr, actors.Config{})
	var state messages.State
	var events []messages.Event
	for line := range strings.Lines(stdout.String()) {
		var e messages.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		next, err := state.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		state, events = next, append(events, e)
	}
	if state.End == nil {
		t.Fatalf("exit code %d without a terminal; stderr:\n%s", code, stderr.String())
	}
	return code, state, events
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

// Every fixture gets its verdict, all the way from the socket to the exit code.
func TestPromptFixtures(t *testing.T) {
	data, err := os.ReadFile("../../transport/llm/testdata/llm-streams.json")
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := testkit.Fixtures(data)
	if err != nil || len(fixtures) < 30 {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	for _, f := range fixtures {
		m := testkit.NewModel(t)
		m.Always(f.Pieces()...)
		code, state, events := promptEvents(t, m, "--profile", f.Profile, "--retries", "0")
		said := completion(t, events)
		t.Logf("%-4s %-45s %-9s %-22s exit %d  %s", f.ID, f.Name, said.Verdict, said.Evidence, code, state.End.Cause)
		text, _ := state.Stream(prompt.Stream)
		if said.Verdict != f.Expect.Verdict || string(state.Status) != f.Expect.Verdict || text.Text() != f.Expect.Text {
			t.Errorf("%s: %s as %s with %q, want %+v", f.ID, said.Verdict, state.Status, text.Text(), f.Expect)
		}
		if want := map[string]int{"completed": exitCompleted, "failed": exitProvider}[f.Expect.Verdict]; code != want {
			t.Errorf("%s: exit code %d, want %d", f.ID, code, want)
		}
		if state.End.Error != nil && !strings.Contains(state.End.Error.Message, f.Expect.ReasonContains) {
			t.Errorf("%s: the reason is %q, want %q", f.ID, state.End.Error.Message, f.Expect.ReasonContains)
		}
	}
}

// Each fault ends the run once and in the right cause.
func TestPromptFaults(t *testing.T) {
	seen := map[messages.Cause]bool{}
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
		code, state, events := promptEvents(t, m, flags...)
		said := completion(t, events)
		t.Logf("%-35s %-9s %-22s exit %d  %s", f.Name, said.Verdict, said.Evidence, code, state.End.Cause)
		text, _ := state.Stream(prompt.Stream)
		if state.End.Cause != f.Cause || text.Text() != f.Text || text.Closed != (f.Cause == "") {
			t.Errorf("%s: %s, %s with %q, want %q with %q", f.Name, state.Status, state.End.Cause, text.Text(), f.Cause, f.Text)
		}
		if f.Cause != "" && (said.Error == nil || said.Error.Code != messages.Code(f.Cause) || code == exitCompleted) {
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
		if err != nil {
			t.Fatal(err)
		}
		events := cancelPrompt(t, client, x, name == "among the words" || name == "in a frame")
		last := events[len(events)-1]
		said := completion(t, events)
		if said.Verdict != "canceled" || last.Kind() != messages.KindRunCanceled {
			t.Errorf("%s: the call ended as %s, the run in %s", name, said.Verdict, last.Kind())
		}
		client.Close()
	}
}

// cancelPrompt cancels a prompt when its request has come and, where a word is to come, that word was read. It reads no
// further than run.canceling before the server has seen the connection close.
func cancelPrompt(t *testing.T, client *llm.Client, x *testkit.Exchange, word bool) []messages.Event {
	t.Helper()
	system, err := actors.New(t.Context(), actors.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer system.Close(context.Background())
	job, err := prompt.Job(prompt.Input{Text: "Hi", Model: "scripted"}, prompt.Config{Stream: client.Stream})
	if err != nil {
		t.Fatal(err)
	}
	run, err := system.Start(t.Context(), job, actors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events []messages.Event
	for e, err := range run.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
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
func TestPromptPrintsAsItComes(t *testing.T) {
	m := testkit.NewModel(t)
	last := make(chan struct{})
	m.Always(testkit.Text("Hel"), testkit.Until(last), testkit.Text("lo"), testkit.Finish("stop"), testkit.Done())
	out := &firstWrite{first: last}
	var stderr bytes.Buffer
	args := []string{"prompt", "Hi", "--base-url", m.URL(), "--model", "scripted", "--idle", "20s"}
	code := run(t.Context(), args, out, &stderr, actors.Config{})
	if code != exitCompleted || out.text != "Hello\n" {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, out.text, stderr.String())
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

// On a terminal the thoughts are told apart from the answer, line by line, and nothing steers it.
func TestSpeechOnATerminal(t *testing.T) {
	var screen bytes.Buffer // both, as one terminal has them
	s := &speech{stdout: &screen, stderr: &screen, shared: true}
	tell := func(body messages.Body, message string) {
		e := messages.Event{Body: body, Message: message}
		if err := s.tell(e); err != nil {
			t.Fatal(err)
		}
		s.show(messages.State{}, e)
	}
	said := 0
	say := func(text string) {
		tell(messages.TextDelta{Stream: prompt.Stream, Offset: said, Text: text}, "")
		said += len(text)
	}
	tell(messages.LLMStarted{}, "asking\x1b[2J qwen")
	tell(messages.ThoughtDelta{Text: "Hm\x1b[31m, "}, "")
	tell(messages.Merged{Parts: []messages.Body{messages.Progress{}, messages.ThoughtDelta{Text: "well."}}}, "")
	tell(messages.ThoughtDone{}, "")
	say("Hel")
	tell(messages.TextDelta{Stream: prompt.Stream, Offset: 0, Text: "Hello"}, "") // merged with what was printed
	said = 5
	tell(messages.TextDelta{Stream: "other", Text: "not this"}, "")
	say(", \x07")
	tell(messages.ThoughtDelta{Text: "who?"}, "")
	say("w\u200dorld")
	tell(messages.LLMCompleted{}, "qwen answered")
	s.end()
	want := "asking[2J qwen\nHm[31m, well.\nHello, \nwho?\nw\u200dorld\nqwen answered\n"
	if screen.String() != want {
		t.Errorf("the terminal shows\n%q\nwant\n%q", screen.String(), want)
	}
}

func TestModelOfTheServer(t *testing.T) {
	idle := func(id string) llm.Info { return llm.Info{ID: id} }
	loaded := func(id, server string) llm.Info { return llm.Info{ID: id, Loaded: true, Server: server} }
	embeds := llm.Info{ID: "nomic", Kind: "embeddings", Loaded: true, Server: llm.LMStudio}
	for _, c := range []struct {
		list []llm.Info
		want string
		code messages.Code
	}{
		{nil, "", ""},
		{[]llm.Info{embeds}, "", ""},
		{[]llm.Info{idle("a")}, "a", ""},
		{[]llm.Info{embeds, idle("a"), loaded("b", llm.LMStudio), loaded("c", llm.LMStudio)}, "b", ""},
		{[]llm.Info{idle("a"), idle("b")}, "", messages.Code(messages.CauseInvalidInput)},
		{[]llm.Info{loaded("a", llm.OpenAI)}, "a", ""},
		{[]llm.Info{loaded("a", ""), loaded("b", "")}, "", messages.Code(messages.CauseInvalidInput)},
	} {
		got, err := oneOf(c.list)
		if got != c.want || messages.CodeOf(err) != c.code {
			t.Errorf("%s: %q, %v", fmt.Sprint(c.list), got, err)
		}
	}
}

// OpenAI's key is for a server that somebody named.
func TestKeyOfTheServer(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "theirs")
	for _, c := range []struct {
		at   endpoint
		want string
	}{{endpoint{}, ""}, {endpoint{baseURL: lmStudio, guessed: true}, ""}, {endpoint{baseURL: lmStudio}, "theirs"}} {
		at, want := c.at, c.want
		if got := at.key(); got != want {
			t.Errorf("%q (guessed: %t) gets %q, want %q", at.baseURL, at.guessed, got, want)
		}
		t.Setenv("LASTWORD_API_KEY", "ours")
		if got := at.key(); got != "ours" {
			t.Errorf("%q (guessed: %t) gets %q", at.baseURL, at.guessed, got)
		}
		t.Setenv("LASTWORD_API_KEY", "")
	}
}
