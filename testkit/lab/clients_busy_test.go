package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
	toolsource "github.com/seed889630bf/lastword/transport/mcp/source"
)

// TestBusyClients is the part of make clients in which a client sends a second message while the first is answered:
// both turns complete, and the model gets both messages in order.
func TestBusyClients(t *testing.T) {
	onlyBy(t, "clients")
	for _, c := range []struct{ name, folder, path string }{{"ai", "fronts", ""}, {"agui", "fronts", ""}, {"http", "clients", "/mcp"}} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan []byte, 9)
			model := httptest.NewServer(slowWords(asked))
			t.Cleanup(model.Close)
			server := serve(t, "--dialects", "ai-sdk,ag-ui", "--base-url", model.URL+"/v1", "--model", "scripted", "--state", t.TempDir())
			args := []string{filepath.Join(npmInstall(t, c.folder), "busy.mjs"), server, c.name}
			if c.path != "" {
				args = append(args[:1], c.name, server+c.path)
			}
			out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput()
			if err != nil || string(bytes.TrimSpace(out)) != "[]" {
				t.Errorf("%v: the client says %s", err, out)
			}
			answer, err := http.Get(server + "/v1/runs")
			must(t, err)
			defer answer.Body.Close()
			var list struct{ Runs []messages.Summary }
			must(t, json.NewDecoder(answer.Body).Decode(&list))
			ended := 0
			for _, r := range list.Runs {
				if r.Status == messages.Completed {
					ended++
				}
			}
			if ended != 2 || len(list.Runs) != 2 || len(asked) != 2 {
				t.Fatalf("%d of %d runs completed with %d requests", ended, len(list.Runs), len(asked))
			}
			if a, b := list.Runs[0], list.Runs[1]; a.QueuedAt.After(b.UpdatedAt) || b.QueuedAt.After(a.UpdatedAt) {
				t.Fatal("the second message came after the first answer")
			}
			<-asked
			last := <-asked
			first, second := bytes.Index(last, []byte(`"first"`)), bytes.Index(last, []byte(`"second"`))
			if first < 0 || second < first {
				t.Errorf("the second request was %s", last)
			}
		})
	}
	t.Run("acpx", acpxBusy)
}

// acpxBusy has acpx take a second message while lastword acp answers the first. acpx itself keeps it until then.
func acpxBusy(t *testing.T) {
	asked := make(chan []byte, 9)
	model := httptest.NewServer(slowWords(asked))
	t.Cleanup(model.Close)
	script, agent, folder, env := filepath.Join(npmInstall(t, "acp"), "node_modules", ".bin", "acpx"), buildBinary(t), t.TempDir(), atHome(t)
	acpx := func(words ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{script, "--cwd", folder, "--ttl", "1", "--approve-all", "--agent",
			agent + " acp --base-url " + model.URL + "/v1 --model scripted"}, words...)...)
		cmd.Env = env
		return cmd
	}
	combined(t, acpx("sessions", "new"))
	first := acpx("first")
	must(t, first.Start())
	<-asked
	if out, err := acpx("prompt", "--no-wait", "second").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("[queued]")) {
		t.Errorf("%v: %s", err, out)
	}
	must(t, first.Wait())
	last := <-asked
	answer, second := bytes.Index(last, []byte("word word")), bytes.Index(last, []byte(`"second"`))
	if began := bytes.Index(last, []byte(`"first"`)); began < 0 || answer < began || second < answer {
		t.Errorf("the second request was %s", last)
	}
}

// slowWords is a model whose answers take two seconds.
func slowWords(asked chan<- []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fmt.Fprint(w, `{"data":[{"id":"scripted","object":"model"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		asked <- body
		w.Header().Set("Content-Type", "text/event-stream")
		for range 40 {
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
}

// TestA2AClients has the library of agents for npm call a real server: tasks that complete, ask, fail, are canceled, and
// break off because the server is killed. Only those that complete look like a success, and the cut one goes on.
func TestA2AClients(t *testing.T) {
	onlyBy(t, "clients")
	m := testkit.NewModel(t)
	m.Answer(testkit.Thought("Hm. "), testkit.Text("Hello "), testkit.Text("there."), testkit.Finish("stop"), testkit.Done())
	m.Answer(testkit.Call(0, "c", "ask_user", `{"question":"Which branch?"}`), testkit.Finish("tool_calls"), testkit.Done())
	m.Answer(testkit.Text("Took it."), testkit.Finish("stop"), testkit.Done())
	m.Answer(testkit.Text("It ra "), testkit.Cut())
	m.Answer(testkit.Text("It ra "), testkit.Stall())
	m.Answer(testkit.Text("It ra "), testkit.Stall())
	m.Answer(testkit.Text("It rains."), testkit.Finish("stop"), testkit.Done()) // the next server goes on with the turn
	want := []struct{ Prompt, Status, Text, Error string }{{"whole", "completed", "Hello there.", ""}, {"question", "completed", "Took it.", ""},
		{"failed", "failed", "It ra ", ""}, {"cancel", "canceled", "It ra ", ""}, {"kill", "completed", "It rains.", "cut"}}
	var prompts []string
	for _, w := range want {
		prompts = append(prompts, w.Prompt)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "fronts"), "a2aserver.mjs"), strings.Join(prompts, ","),
		buildBinary(t), "serve", "--http", "127.0.0.1:0", "--dialects", "a2a", "--drain", "100ms", "--base-url", m.URL(), "--model", "scripted",
		"--state", t.TempDir())
	cmd.Stderr, cmd.Dir, cmd.Env = t.Output(), t.TempDir(), atHome(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := clientRow{dialect: "a2a", client: "@a2a-js/sdk, a server", version: "1", cuts: 1}
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		got := want[0]
		got.Error = ""
		if err := json.Unmarshal(line, &got); err != nil || i >= len(want) {
			t.Fatalf("%v\n%s", err, out)
		}
		row.stories++
		if got != want[i] {
			t.Errorf("%s, want %+v", line, want[i])
			continue
		}
		row.equal++
	}
	if row.stories != len(want) {
		t.Errorf("%d prompts have an answer", row.stories)
	}
	row.print()
}

// TestEditorClients has the library of editors for npm start the program as their agent: runs that complete, ask, fail,
// are canceled, and break off because the agent is killed. Only those that complete look like a success.
func TestEditorClients(t *testing.T) {
	onlyBy(t, "clients")
	m, state, folder := testkit.NewModel(t), t.TempDir(), t.TempDir()
	calls := func(tool, arguments, then string) {
		m.Answer(testkit.Call(0, "c", tool, arguments), testkit.Finish("tool_calls"), testkit.Done())
		m.Answer(testkit.Text(then), testkit.Finish("stop"), testkit.Done())
	}
	m.Answer(testkit.Thought("Hm. "), testkit.Text("Hello."), testkit.Finish("stop"), testkit.Done())
	calls("write_file", `{"path":"a.txt","text":"a"}`, "Written.")
	calls("ask_user", `{"question":"Which branch?"}`, "Took it.")
	m.Answer(testkit.Text("It ra"), testkit.Cut())
	m.Answer(testkit.Text("It ra"), testkit.Stall())
	m.Answer(testkit.Text("It ra"), testkit.Stall())
	prompts := []string{"whole", "permission", "form", "failed", "cancel", "kill"}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "acp"), "editor.mjs"), folder, strings.Join(prompts, ","),
		buildBinary(t), "acp", "--base-url", m.URL(), "--model", "scripted", "--state", state)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	row := clientRow{dialect: "acp", client: "@agentclientprotocol/sdk", version: "2"}
	want := []struct{ told, stop string }{
		{"agent_thought_chunk Hm. ,agent_message_chunk Hello. ", "end_turn"},
		{"permission write_file a.txt,tool_call write_file a.txt in_progress,tool_call_update  completed,agent_message_chunk Written. ", "end_turn"},
		{"tool_call ask_user in_progress,form Which branch?,tool_call_update  completed,agent_message_chunk Took it. ", "end_turn"},
		{"agent_message_chunk It ra ", ""}, {"agent_message_chunk It ra ", "cancelled"}, {"agent_message_chunk It ra ", ""},
	}
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var got struct {
			Updates     []string
			Stop, Error string
		}
		if err := json.Unmarshal(line, &got); err != nil || i >= len(want) {
			t.Fatalf("%v\n%s", err, out)
		}
		told := slices.DeleteFunc(got.Updates, func(u string) bool { return strings.HasPrefix(u, "available_commands") })
		row.stories++
		if all := strings.Join(told, ","); all != want[i].told || got.Stop != want[i].stop || (got.Error == "") != (want[i].stop != "") {
			t.Errorf("%s: %q, stop %q, error %q", prompts[i], all, got.Stop, got.Error)
			continue
		}
		row.equal++
	}
	if row.stories != len(want) {
		t.Errorf("%d prompts have an answer", row.stories)
	}
	row.cuts = 1
	row.print()
}

// TestClientsOfServers uses the tools of two servers that everybody has: their listing, results of each kind, errors,
// progress, questions, and what they are not told.
func TestClientsOfServers(t *testing.T) {
	onlyBy(t, "clients")
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	folder, bin := t.TempDir(), filepath.Join(npmInstall(t, "toolservers"), "node_modules", ".bin")
	writeFile(t, filepath.Join(folder, "note.txt"), []byte("A note.\n"))
	settings, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": filepath.Join(bin, "mcp-server-everything"), "args": []string{"stdio"}},
		"files":      map[string]any{"command": filepath.Join(bin, "mcp-server-filesystem"), "args": []string{"${FOLDER}"}, "trust": true},
	}})
	servers, err := toolsource.Parse(settings, func(string) (string, bool) { return folder, true })
	must(t, err)
	for i := range servers {
		servers[i].Folder = folder
	}
	src := toolsource.New(servers, "1", nil)
	defer src.Close()
	list, err := src.Tools(t.Context())
	must(t, err)
	tools := map[string]toolsource.Tool{}
	for _, tool := range list {
		tools[tool.Name] = tool
	}
	var progress []int64
	ask := func(_ context.Context, in messages.InputRequired) (json.RawMessage, error) {
		return json.RawMessage(`{"name":"Ada","check":true}`), nil
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"mcp__everything__echo", `{"message":"hello"}`, "hello"},
		{"mcp__everything__get-sum", `{"a":2,"b":3}`, "5"},
		{"mcp__everything__get-sum", `{"a":"two"}`, "error"},
		{"mcp__everything__get-env", `{}`, "PATH"},
		{"mcp__everything__get-tiny-image", `{}`, "[image/png of "},
		{"mcp__everything__get-structured-content", `{"location":"Chicago"}`, `"temperature"`},
		{"mcp__everything__trigger-long-running-operation", `{"duration":0.4,"steps":4}`, "completed"},
		{"mcp__everything__trigger-elicitation-request", `{}`, "Ada"},
		{"mcp__files__read_text_file", `{"path":"` + folder + `/note.txt"}`, "A note."},
		{"mcp__files__list_directory", `{"path":"` + folder + `"}`, "note.txt"},
		{"mcp__files__read_text_file", `{"path":"/etc/hostname"}`, "denied"},
	} {
		got, err := tools[c.tool].Call(t.Context(), toolsource.Call{ID: "c", Run: "r", Arguments: json.RawMessage(c.arguments), Ask: ask,
			Progress: func(done, total int64, _ string) error { progress = append(progress, done, total); return nil }})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "sk-secret") {
			t.Errorf("%s %s: %.500s", c.tool, c.arguments, got)
		}
	}
	if len(progress) == 0 || !slices.Contains(progress, 4) {
		t.Errorf("the progress is %v", progress)
	}
	if read, write := tools["mcp__files__read_text_file"], tools["mcp__files__write_file"]; !read.ReadOnly || !read.Local || write.ReadOnly {
		t.Errorf("%+v, %+v", read, write)
	}
}

// TestWebhookClients: the receiver of docs/webhooks.md, with the npm library of Standard Webhooks, takes a delivery of a real
// server, and refuses one that nobody has signed.
func TestWebhookClients(t *testing.T) {
	onlyBy(t, "clients")
	page := string(readFile(t, filepath.Join(root, "docs", "webhooks.md")))
	code := regexp.MustCompile("(?s)<!-- file: receiver.mjs -->\n```js\n(.*?)```").FindStringSubmatch(page)
	if code == nil {
		t.Fatal("docs/webhooks.md has no receiver")
	}
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	receiver := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", code[1])
	receiver.Dir = npmInstall(t, "webhooks")
	receiver.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret)
	out, err := receiver.StdoutPipe()
	must(t, err)
	receiver.Stderr = os.Stderr
	must(t, receiver.Start())
	t.Cleanup(func() { _ = receiver.Wait() }) // the end of the test's context has killed it
	lines := bufio.NewScanner(out)
	said := func(want string) string {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("the receiver says %q, not %q", lines.Text(), want)
		}
		return strings.TrimPrefix(lines.Text(), want)
	}
	url := "http://127.0.0.1:" + said("listening ")

	folder := t.TempDir()
	jobs, hooks := filepath.Join(folder, "jobs.yaml"), filepath.Join(folder, "webhooks.yaml")
	writeFile(t, jobs, []byte("jobs:\n  hello: {command: [echo, hello]}\n"))
	writeFile(t, hooks, fmt.Appendf(nil, "webhooks: [{name: node, url: %q, secret: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx, %s], allow_private: true}]\n", url, secret))
	c, err := api.New(serve(t, "--ephemeral", "--jobs", jobs, "--webhooks", hooks), "")
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: "hello", Input: json.RawMessage(`{}`)})
	must(t, err)
	said("run.completed " + string(id))

	forged, err := http.Post(url, "application/json", strings.NewReader(`{"type":"run.completed"}`))
	must(t, err)
	forged.Body.Close()
	if said("refused "); forged.StatusCode != http.StatusBadRequest {
		t.Errorf("a forged message gets %s", forged.Status)
	}
}
