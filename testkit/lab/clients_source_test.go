package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
	toolsource "github.com/seed889630bf/lastword/transport/mcp/source"
)

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
