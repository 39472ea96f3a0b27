package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/internal/acp"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// host is what the tests' agent knows of conversations.
func host(runs door.Runs) acp.Config {
	said := []model.Message{{Role: model.User, Content: "Read a.go."},
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a.go","from":7}`}}},
		{Role: model.ToolRole, CallID: "c1", Content: "package a"}, {Role: model.Assistant, Content: "It is empty."}}
	n := 0
	return acp.Config{
		Door:  door.New(door.Config{Runs: runs, Version: "1", Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}}),
		Log:   slog.New(slog.DiscardHandler),
		Open:  func(context.Context, *acp.Session) error { return nil },
		Close: func(*acp.Session) {},
		NewID: func() string { n++; return fmt.Sprintf("c_%d", n) },
		List: func() ([]acp.Conversation, error) {
			at := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
			return []acp.Conversation{{ID: "c_old", Folder: "/work", Title: "Read a.go.", Updated: at}, {ID: "c_terminal", Title: "no folder"},
				{ID: "c_other", Folder: "/other"}}, nil
		},
		Said: func(id string) ([]model.Message, error) {
			if id != "c_old" {
				return nil, messages.Errorf(messages.CodeNotFound, "there is no conversation %q", id)
			}
			return said, nil
		},
		Modes:    []acp.Mode{{ID: "ask", Name: "Ask"}, {ID: "read", Name: "Read"}},
		Commands: []acp.Command{{Name: "model", About: "pick one", Input: &acp.Hint{Text: "name"}, Run: func(_ context.Context, _ *acp.Session, name string) (string, error) { return "now " + name, nil }}},
		Kinds:    map[string]string{"read_file": "read"},
		Preview:  func(*acp.Session, string, json.RawMessage) *acp.Edit { return nil },
		Changed:  func(messages.RunID, string) *acp.Edit { return nil },
	}
}

// editor is the other side, as the library for editors has it.
type editor struct {
	sdk.Client
	*sdk.ClientSideConnection
	ask func(ctx context.Context, question string) (string, error) // for a form

	opened chan sdk.SessionId // with the session's commands

	mu      sync.Mutex
	updates []string
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	line, err := json.Marshal(n.Update)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.updates = append(e.updates, string(line)); n.Update.AvailableCommandsUpdate != nil {
		e.opened <- n.SessionId
	}
	return err
}

func (e *editor) UnstableCompleteElicitation(context.Context, sdk.UnstableCompleteElicitationNotification) error {
	return nil
}

func (e *editor) UnstableCreateElicitation(ctx context.Context, r sdk.UnstableCreateElicitationRequest) (a sdk.UnstableCreateElicitationResponse, err error) {
	answer, err := e.ask(ctx, r.Form.Message)
	a.Accept = &sdk.UnstableCreateElicitationAccept{Content: map[string]any{"answer": answer}}
	return a, err
}

// told are the updates since the last call.
func (e *editor) told() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := strings.Join(e.updates, "\n")
	e.updates = nil
	return all
}

// pipes starts the agent; what the test writes is its stdin.
func pipes(t *testing.T, c acp.Config) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	served := make(chan bool)
	go func() {
		c.Serve(context.Background(), stdin, stdout)
		stdout.Close()
		close(served)
	}()
	t.Cleanup(func() {
		in.Close()
		go io.Copy(io.Discard, out)
		<-served
	})
	return in, out
}

// connect starts the agent and opens a session of an editor.
func connect(t *testing.T, c acp.Config, ask func(context.Context, string) (string, error)) (*editor, sdk.SessionId) {
	t.Helper()
	in, out := pipes(t, c)
	e := &editor{ask: ask, opened: make(chan sdk.SessionId, 9)}
	e.ClientSideConnection = sdk.NewClientSideConnection(e, in, out)
	e.SetLogger(slog.New(slog.DiscardHandler))
	can := sdk.ClientCapabilities{}
	if ask != nil {
		can.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.ElicitationFormCapabilities{}}
	}
	r, err := e.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can})
	if err != nil || r.ProtocolVersion != 1 || !r.AgentCapabilities.LoadSession || r.AgentCapabilities.PromptCapabilities.Image {
		t.Fatalf("%+v, %v", r, err)
	}
	s, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/work", McpServers: []sdk.McpServer{}})
	fatal.IfError(t, err)
	if id := <-e.opened; id != s.SessionId {
		t.Errorf("the commands are of %s", id)
	}
	return e, s.SessionId
}

// prompt gives a prompt, and returns what the editor is told, with the answer last.
func (e *editor) prompt(t *testing.T, s sdk.SessionId, text string) string {
	t.Helper()
	e.told()
	r, err := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: s, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	answer := "= " + string(r.StopReason)
	if err != nil {
		line, _ := json.Marshal(err)
		answer = "! " + string(line)
	}
	return e.told() + "\n" + answer + "\n"
}

// TestStories holds what an editor is told of each story. One that takes no forms declines questions for words.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		teller := &stories.Teller{}
		e, s := connect(t, host(teller), nil)
		story.Golden(t, *update, e.prompt(t, s, story.Name))
		if story.Name == "question" {
			if state, err := teller.State(t.Context(), "r_story1"); err != nil || string(state.Inputs[0].Value) != "null" {
				t.Errorf("%v, the run is told %s", err, state.Inputs[0].Value)
			}
		}
	}
}

// Wherever the log breaks off, the prompt's answer is an error.
func TestNoCutIsASuccess(t *testing.T) {
	for _, story := range stories.All() {
		for n := range len(story.Events) {
			if story.Name == "question" && n > 5 {
				break
			}
			e, s := connect(t, host(&stories.CutTeller{After: n, Err: errors.New("the journal is gone")}), nil)
			if got := e.prompt(t, s, story.Name); !strings.Contains(got, "\n! ") || !strings.Contains(got, "the journal is gone") {
				t.Errorf("%s after %d events: %s", story.Name, n, got)
			}
		}
	}
}

// An answer in words is a form's; a cancel while the form is open takes it back.
func TestForms(t *testing.T) {
	teller := &stories.Teller{}
	e, s := connect(t, host(teller), func(_ context.Context, question string) (string, error) { return "to " + question, nil })
	if got := e.prompt(t, s, "question"); !strings.Contains(got, "Took main.") || !strings.HasSuffix(got, "= end_turn\n") {
		t.Error(got)
	}
	if state, err := teller.State(t.Context(), "r_story1"); err != nil || string(state.Inputs[0].Value) != `"to Which branch?"` {
		t.Errorf("%v, the run is told %s", err, state.Inputs[0].Value)
	}

	shown, taken := make(chan bool), make(chan bool)
	e, s = connect(t, host(teller), func(ctx context.Context, _ string) (string, error) {
		close(shown)
		<-ctx.Done()
		close(taken)
		return "", ctx.Err()
	})
	go func() {
		<-shown
		_ = e.Cancel(context.Background(), sdk.CancelNotification{SessionId: s})
	}()
	if got := e.prompt(t, s, "question"); !strings.HasSuffix(got, "= cancelled\n") {
		t.Error(got)
	}
	<-taken
}

// A cancel right behind its prompt, in the same write, cancels that prompt; one without a prompt leaves no mark.
func TestCancelBehindItsPrompt(t *testing.T) {
	in, out := pipes(t, host(&stories.Teller{}))
	lines := bufio.NewScanner(out)
	prompt := func(id int, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"c_1","prompt":[{"type":"text","text":%q}]}}`, id, text) + "\n"
	}
	const cancel = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"c_1"}}` + "\n"
	send := func(text string) {
		go io.WriteString(in, text)
	}
	answer := func(id int) string {
		for lines.Scan() {
			if strings.Contains(lines.Text(), fmt.Sprintf(`"id":%d,`, id)) && !strings.Contains(lines.Text(), `"method"`) {
				return lines.Text()
			}
		}
		return ""
	}
	send(`{"jsonrpc":"2.0","id":90,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}}` + "\n")
	answer(90)
	send(`{"jsonrpc":"2.0","id":91,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}` + "\n")
	if first := answer(91); !strings.Contains(first, `"sessionId":"c_1"`) {
		t.Fatal(first)
	}
	if lines.Scan(); !strings.Contains(lines.Text(), `"available_commands_update"`) {
		t.Errorf("behind a new session comes %s", lines.Text())
	}
	for id := range 20 {
		send(cancel + prompt(id, "question") + cancel)
		if got := answer(id); !strings.Contains(got, `"stopReason":"cancelled"`) {
			t.Fatal(got)
		}
		send(cancel + `{"jsonrpc":"2.0","id":98,"method":"session/prompt","params":{"sessionId":"c_1"}}` + "\n" + cancel + prompt(99, "plain"))
		if got := answer(99); !strings.Contains(got, `"stopReason":"end_turn"`) {
			t.Fatal(got)
		}
	}
	send(prompt(30, "question") + prompt(31, "plain"))
	if got := answer(30); !strings.Contains(got, `"stopReason":"cancelled"`) {
		t.Errorf("a prompt before another: %s", got)
	}
	if got := answer(31); !strings.Contains(got, `"stopReason":"end_turn"`) {
		t.Errorf("another prompt: %s", got)
	}
}

// A loaded session shows what was said, before its answer; the list has those that editors have begun.
func TestSessions(t *testing.T) {
	e, s := connect(t, host(&stories.Teller{}), nil)
	list, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: new("/work/")})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != "c_old" || *list.Sessions[0].UpdatedAt != "2026-11-20T20:00:00Z" {
		t.Errorf("%+v, %v", list, err)
	}
	e.told()
	loaded, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: "c_old", Cwd: "/work", McpServers: []sdk.McpServer{}})
	if err != nil || loaded.Modes.CurrentModeId != "ask" {
		t.Errorf("%+v, %v", loaded, err)
	}
	stories.Story{Name: "loaded"}.Golden(t, *update, e.told()+"\n")
	if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: "read"}); err != nil {
		t.Error(err)
	}
	if got := e.prompt(t, s, "/model small"); !strings.Contains(got, "now small") || !strings.HasSuffix(got, "= end_turn\n") {
		t.Error(got)
	}
	_, unknown := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: "c_none", Cwd: "/work", McpServers: []sdk.McpServer{}})
	_, image := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: s, Prompt: []sdk.ContentBlock{sdk.ImageBlock("aaaa", "image/png")}})
	_, relative := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "work", McpServers: []sdk.McpServer{}})
	_, mode := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: "fly"})
	_, closed := e.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: s})
	_, gone := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: s, Prompt: []sdk.ContentBlock{sdk.TextBlock("plain")}})
	for what, c := range map[string]struct {
		err  error
		code int
		says string
	}{"unknown": {unknown, -32002, "c_none"}, "image": {image, -32602, "mention the file"}, "relative": {relative, -32602, "no absolute path"},
		"mode": {mode, -32602, "fly"}, "closed": {gone, -32002, "load it"}} {
		refused, ok := errors.AsType[*sdk.RequestError](c.err)
		if !ok || refused.Code != c.code || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v", what, c.err)
		}
	}
	if closed != nil {
		t.Error(closed)
	}
}

// A link to a file of the session is its path, as the tools have it.
func TestLinks(t *testing.T) {
	c := host(&stories.Teller{})
	e, s := connect(t, c, nil)
	_, err := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: s, Prompt: []sdk.ContentBlock{sdk.TextBlock("Look at"), sdk.ResourceLinkBlock("a.go", "file:///work/sub/a.go"),
		sdk.ResourceLinkBlock("b.go", "file:///elsewhere/b.go")}})
	if err == nil || !strings.Contains(err.Error(), `Look at\\n[a.go](sub/a.go)\\n[b.go](file:///elsewhere/b.go)`) {
		t.Error(err)
	}
}

// An editor that stops in the middle of a message, which it writes or reads, does not hold the agent.
func TestHalfAMessageEndsTheAgent(t *testing.T) {
	for message, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n": "has not read the rest of a message for 1m0s",
		`{"jsonrpc":`: "has written half a message",
	} {
		synctest.Test(t, func(t *testing.T) {
			stdin, in := io.Pipe()
			out, stdout := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- host(nil).Serve(t.Context(), stdin, stdout) }()
			_, _ = io.WriteString(in, message)
			if err := <-ended; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("after %s the agent says %v, not %q", message, err, want)
			}
			in.Close()
			out.Close()
		})
	}
}

// A message that is too long is refused, and the next one is answered.
func TestLongMessageIsRefused(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"` + strings.Repeat("x", 16<<20) + `"}}`
	next := `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1}}`
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- host(nil).Serve(t.Context(), in, out) }()
	go func() { _, _ = io.WriteString(stdin, long+"\n"+next+"\n") }()
	answers := json.NewDecoder(stdout)
	for _, want := range []string{`"id":null,"error":{"code":-32600,"message":"the message is longer than 16777216 bytes"}`, `"id":2,"result":`} {
		var answer json.RawMessage
		if err := answers.Decode(&answer); err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("it answers %s (%v), not %s", answer, err, want)
		}
	}
	stdin.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
