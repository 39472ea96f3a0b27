package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/seed889630bf/lastword/testkit"
)

// editorSide is an editor that starts lastword acp.
type editorSide struct {
	sdk.Client
	*sdk.ClientSideConnection
	process *os.Process
	leave   func() // waits for the end of the agent

	mu      sync.Mutex // guards what follows: the agent sends updates between prompts too
	allow   string     // what the user chooses; "" waits for a cancel
	updates []string
	asked   []sdk.RequestPermissionRequest
	files   map[string]string // those that are open and not saved
	cancel  func()
	killed  bool // at the first words
}

// set changes e while updates may arrive.
func (e *editorSide) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

func (e *editorSide) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	line, err := json.Marshal(n.Update)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, string(line))
	if e.killed && n.Update.AgentMessageChunk != nil {
		return e.process.Kill()
	}
	return err
}

func (e *editorSide) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (a sdk.RequestPermissionResponse, err error) {
	e.mu.Lock()
	e.asked = append(e.asked, r)
	allow, cancel := e.allow, e.cancel
	e.mu.Unlock()
	if allow == "" {
		cancel()
		a.Outcome.Cancelled = &sdk.RequestPermissionOutcomeCancelled{}
		return a, nil
	}
	a.Outcome.Selected = &sdk.RequestPermissionOutcomeSelected{OptionId: sdk.PermissionOptionId(allow)}
	return a, nil
}

func (e *editorSide) ReadTextFile(_ context.Context, r sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if text, ok := e.files[r.Path]; ok {
		return sdk.ReadTextFileResponse{Content: text}, nil
	}
	text, err := os.ReadFile(r.Path)
	return sdk.ReadTextFileResponse{Content: string(text)}, err
}

func (e *editorSide) WriteTextFile(_ context.Context, r sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[r.Path] = r.Content
	return sdk.WriteTextFileResponse{}, nil
}

// told are the updates since the last call.
func (e *editorSide) told() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := strings.Join(e.updates, "\n")
	e.updates = nil
	return all
}

// edit starts lastword acp with the model; its files are given if they are not nil.
func edit(t *testing.T, m *testkit.Model, state string, files map[string]string) *editorSide {
	t.Helper()
	cmd := binary(t, t.TempDir(), "acp", "--base-url", m.URL(), "--model", "scripted", "--state", state)
	e := &editorSide{files: files, allow: "yes, once"}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = t.Output()
	cmd.Cancel = func() error { return os.ErrProcessDone } // it ends with its stdin
	must(t, cmd.Start())
	e.process = cmd.Process
	e.ClientSideConnection = sdk.NewClientSideConnection(e, in, out)
	e.SetLogger(slog.New(slog.DiscardHandler))
	e.leave = sync.OnceFunc(func() {
		in.Close()
		<-e.Done()
		if err := cmd.Wait(); err != nil && !e.killed {
			t.Errorf("acp ends with %v", err)
		}
	})
	t.Cleanup(e.leave)
	can := sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{ReadTextFile: files != nil, WriteTextFile: files != nil}}
	_, err = e.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: can})
	must(t, err)
	return e
}

func (e *editorSide) open(t *testing.T, folder string) sdk.SessionId {
	t.Helper()
	s, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: folder, McpServers: []sdk.McpServer{}})
	must(t, err)
	return s.SessionId
}

func (e *editorSide) prompt(t *testing.T, s sdk.SessionId, text string) (string, sdk.StopReason, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	e.told()
	r, err := e.Prompt(ctx, sdk.PromptRequest{SessionId: s, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	return e.told(), r.StopReason, err
}

func calling(m *testkit.Model, tool, arguments, then string) {
	m.Answer(testkit.Call(0, "c", tool, arguments), testkit.Finish("tool_calls"), testkit.Done())
	m.Answer(testkit.Text(then), testkit.Finish("stop"), testkit.Done())
}

// A model changes a file that the user has open: it reads what is not saved, the user sees what it is about to write,
// and the editor writes it. Another process goes on with the conversation.
func TestEditor(t *testing.T) {
	m, state, folder := testkit.NewModel(t), t.TempDir(), t.TempDir()
	file := filepath.Join(folder, "a.txt")
	write(t, file, "saved")
	e := edit(t, m, state, map[string]string{file: "not saved"})
	s := e.open(t, folder)
	calling(m, "read_file", `{"path":"a.txt"}`, "Read.")
	if got, reason, err := e.prompt(t, s, "Read a.txt."); err != nil || reason != sdk.StopReasonEndTurn || !strings.Contains(got, `"rawOutput":"not saved"`) {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	calling(m, "edit_file", `{"path":"a.txt","old":"not","new":"now"}`, "Done.")
	got, reason, err := e.prompt(t, s, "Change it.")
	if diff := `{"newText":"now saved","oldText":"not saved","path":"` + file + `","type":"diff"}`; err != nil || reason != sdk.StopReasonEndTurn || !strings.Contains(got, diff) {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	if e.files[file] != "now saved" || len(e.asked) != 1 || *e.asked[0].ToolCall.Content[1].Diff.OldText != "not saved" ||
		e.asked[0].ToolCall.Locations[0].Path != file || e.asked[0].Options[3].Kind != sdk.PermissionOptionKindRejectOnce {
		t.Errorf("%+v, %+v", e.files, e.asked)
	}

	e = edit(t, m, state, nil) // which has no files of its own
	list, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &folder})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != s || *list.Sessions[0].Title != "Read a.txt." {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err = e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: s, Cwd: folder, McpServers: []sdk.McpServer{}})
	must(t, err)
	if got := e.told(); !strings.Contains(got, "Change it.") || !strings.Contains(got, "edit_file a.txt") || !strings.Contains(got, "available_commands_update") {
		t.Error(got)
	}
	if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: "edit"}); err != nil {
		t.Error(err)
	}
	calling(m, "write_file", `{"path":"new/b.txt","text":"b"}`, "Written.")
	if got, reason, err := e.prompt(t, s, "Write b."); err != nil || reason != sdk.StopReasonEndTurn || len(e.asked) > 0 {
		t.Errorf("%s, %v, asked %+v\n%s", reason, err, e.asked, got)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "new", "b.txt")); string(text) != "b" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: "read"}); err != nil {
		t.Error(err)
	}
	if got, _, err := e.prompt(t, s, "/tools"); err != nil || !strings.Contains(got, "read_file") || strings.Contains(got, "write_file") {
		t.Errorf("%v\n%s", err, got)
	}
}

// A question is shown with its choices. A cancel ends the prompt, as does a model that breaks off; neither is a success.
func TestEditorAsks(t *testing.T) {
	m := testkit.NewModel(t)
	e := edit(t, m, t.TempDir(), nil)
	s := e.open(t, t.TempDir())
	e.set(func() { e.allow = "ferns" })
	calling(m, "ask_user", `{"question":"Which bed?","options":["roses","ferns"]}`, "Ferns it is.")
	if got, reason, err := e.prompt(t, s, "Dig."); err != nil || reason != sdk.StopReasonEndTurn || !strings.Contains(got, `"rawOutput":"ferns"`) {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	e.set(func() {
		e.allow, e.cancel = "", func() { _ = e.Cancel(context.Background(), sdk.CancelNotification{SessionId: s}) }
	})
	m.Answer(testkit.Call(0, "c", "write_file", `{"path":"b.txt","text":"b"}`), testkit.Finish("tool_calls"), testkit.Done())
	if got, reason, err := e.prompt(t, s, "Write."); err != nil || reason != sdk.StopReasonCancelled {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	m.Answer(testkit.Text("It ra"), testkit.Cut())
	if got, reason, err := e.prompt(t, s, "And now?"); err == nil || reason != "" || !strings.Contains(got, "It ra") {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	m.Answer(testkit.Text("It ra"), testkit.Finish("length"), testkit.Done())
	if got, reason, err := e.prompt(t, s, "And now?"); err != nil || reason != sdk.StopReasonMaxTokens {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
}

// A killed agent's prompt has an error, its run an end. The next agent goes on with the conversation.
func TestEditorAfterKill(t *testing.T) {
	m, state, folder := testkit.NewModel(t), t.TempDir(), t.TempDir()
	e := edit(t, m, state, nil)
	s := e.open(t, folder)
	m.Answer(testkit.Text("It ra"), testkit.Stall())
	e.set(func() { e.killed = true })
	if got, reason, err := e.prompt(t, s, "Hello"); err == nil {
		t.Errorf("%s\n%s", reason, got)
	}
	e = edit(t, m, state, nil)
	_, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: s, Cwd: folder, McpServers: []sdk.McpServer{}})
	must(t, err)
	m.Answer(testkit.Text("Rain."), testkit.Finish("stop"), testkit.Done())
	if got, reason, err := e.prompt(t, s, "And now?"); err != nil || reason != sdk.StopReasonEndTurn || !strings.Contains(got, "Rain.") {
		t.Errorf("%s, %v\n%s", reason, err, got)
	}
	e.leave()
	list := run(t, nil, "runs", "ls", "--state", state, "--json")
	if strings.Count(list.stdout, `"cause":"node_lost"`) != 1 || strings.Count(list.stdout, `"status":"completed"`) != 1 {
		t.Error(list.stdout, list.stderr)
	}
}

// The MCP servers of the editor add their tools.
func TestEditorServers(t *testing.T) {
	e := edit(t, testkit.NewModel(t), t.TempDir(), nil)
	s, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: t.TempDir(), McpServers: []sdk.McpServer{{Stdio: &sdk.McpServerStdio{
		Name: "self", Command: "lastword", Args: []string{"mcp"}, Env: []sdk.EnvVariable{{Name: "NO_COLOR", Value: "1"}}}}}})
	must(t, err)
	if got, _, err := e.prompt(t, s.SessionId, "/tools"); err != nil || !strings.Contains(got, "mcp__self__generate") {
		t.Errorf("%v\n%s", err, got)
	}
}
