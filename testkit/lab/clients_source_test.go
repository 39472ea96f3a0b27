package lab_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	toolsource "github.com/seed889630bf/lastword/transport/mcp/source"
)

// TestClientsOfServers uses the tools of two servers that everybody has: their listing, results of each kind, errors,
// progress, questions, and what they are not told.
func TestClientsOfServers(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	folder, bin := t.TempDir(), filepath.Join(npmInstall(t, "toolservers"), "node_modules", ".bin")
	writeFile(t, filepath.Join(folder, "note.txt"), []byte("A note.\n"))
	settings, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": filepath.Join(bin, "mcp-server-everything"), "args": []string{"stdio"}},
		"files":      map[string]any{"command": filepath.Join(bin, "mcp-server-filesystem"), "args": []string{"${FOLDER}"}, "trust": true},
	}})
	servers, err := toolsource.Parse(settings, func(string) (string, bool) { return folder, true })
	must(t, err)
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
