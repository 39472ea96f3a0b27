package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A server's turn arrives token by token: the model says the next one when a reader has the last.
func TestServeChats(t *testing.T) {
	m := testkit.NewModel(t)
	x := m.Step(testkit.Role(), testkit.Text("Hel"), testkit.Text("lo"), testkit.Finish("stop"), testkit.Done())
	s := serveHTTP(t, t.TempDir(), "--base-url", m.URL(), "--model", "scripted", "--ephemeral")
	c, err := api.New(s.base(), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "chat", Input: []byte(`{"message":"Hi","system":"Be brief."}`)})
	must(t, err)
	var state messages.State
	var pieces []string
	next := func() { must(t, x.Next()) }
	<-x.Started()
	next()
	next()
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(t, err)
		if d, ok := e.Body.(messages.TextDelta); ok {
			if pieces = append(pieces, d.Text); len(pieces) == 1 {
				next()
			} else if err := x.Rest(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if strings.Join(pieces, "|") != "Hel|lo" || state.Status != messages.Completed || state.Queued.Job != "chat" ||
		!strings.Contains(string(state.End.Result), `"text":"Hello"`) {
		t.Errorf("%q, %s, %s", pieces, state.Status, state.End.Result)
	}
	for _, n := range []int{1, 2} {
		x := m.Answer(testkit.Text("Good day."), testkit.Finish("stop"), testkit.Done())
		id, err := c.Submit(t.Context(), messages.Request{Job: "chat", Input: []byte(`{"message":"Hi","context":"c_1"}`)})
		must(t, err)
		for range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		}
		if body := string(x.Request().Body); strings.Count(body, `"Hi"`) != n || strings.Count(body, "Good day.") != n-1 {
			t.Errorf("in turn %d the model is told %s", n, body)
		}
	}
	if _, err := c.Submit(t.Context(), messages.Request{Job: "chat", Input: []byte(`{"text":"Hi"}`)}); messages.CodeOf(err) !=
		messages.CauseInvalidInput {
		t.Errorf("a turn without a message: %v", err)
	}
	if got := run(t, nil, "runs", "ls", "--server", s.base()); got.code != exit.Completed || !strings.Contains(got.stdout, "completed  chat") {
		t.Errorf("%+v", got)
	}
	if got := run(t, nil, "runs", "watch", string(id), "--server", s.base()); got.code != exit.Completed || got.stdout != "Hello\n" || got.stderr != "" {
		t.Errorf("who watches the turn sees %+v", got)
	}
	_ = s.ends(syscall.SIGTERM)
}

// A server's chats have the tools of its MCP servers. One that may write waits for the caller's word, or is named.
func TestServeChatsWithTools(t *testing.T) {
	m, dir := testkit.NewModel(t), t.TempDir()
	put(t, filepath.Join(dir, "servers.json"), `{"mcpServers":{"self":{"command":"lastword","args":["mcp"]},"gone":{"command":"no-such"}}}`)
	token := run(t, nil, "token", "add", "--file", filepath.Join(dir, "tokens"), "ann", "--scope", "run:read,run:write,run:answer").stdout
	s := serveHTTP(t, dir, "--base-url", m.URL(), "--model", "scripted", "--ephemeral", "--mcp-config", "servers.json", "--tokens", "tokens")
	c, err := api.New(s.base(), strings.TrimSpace(token))
	must(t, err)
	for _, tools := range []string{``, `,"tools":["mcp__self__run_list"]`} {
		m.Answer(testkit.Call(0, "c", "mcp__self__run_list", "{}"), testkit.Finish("tool_calls"), testkit.Done())
		m.Answer(testkit.Text("Done."), testkit.Finish("stop"), testkit.Done())
		id, err := c.Submit(t.Context(), messages.Request{Job: "chat", Input: []byte(`{"message":"Hi"` + tools + `}`)})
		must(t, err)
		var state messages.State
		asked := 0
		for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
			if err == nil {
				state, err = state.Apply(e)
			}
			must(t, err)
			if b, ok := e.Body.(messages.InputRequired); ok {
				asked++
				must(t, c.Answer(t.Context(), id, b.Request, []byte(`"yes, once"`)))
			}
		}
		requests := m.Requests()
		body := string(requests[len(requests)-1].Body)
		if state.Status != messages.Completed || !strings.Contains(body, `{\"runs\":[]}`) || (asked == 1) != (tools == "") {
			t.Errorf("with %q: %s, asked %d times; the model is told %s", tools, state.Status, asked, body)
		}
	}
	_ = s.ends(syscall.SIGTERM)
	if log := <-s.stderr; !strings.Contains(log, "no-such") {
		t.Errorf("the log does not say which server is missing: %s", log)
	}
}

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
