package chat_test

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/messages"
)

// Files are written in the order of the calls, although calls run at one time, and none is lost.
func TestArtifacts(t *testing.T) {
	folder, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer folder.Close()
	tools, err := tool.Artifacts(folder)
	must(t, err)
	set, err := tool.NewSet(nil, tools...)
	must(t, err)
	one := calls(`write_artifact {"name":"plan.md","text":"one"}`, `write_artifact {"name":"plan.md","text":"two"}`,
		`append_artifact {"name":"notes/log.txt","text":"a"}`, `append_artifact {"name":"notes/log.txt","text":"b"}`,
		`append_artifact {"name":"notes/log.txt","text":"c","last":true}`)
	two := calls(`write_artifact {"name":"plan.md","text":"two"}`, `write_artifact {"name":"data.json","text":"{"}`,
		`write_artifact {"name":"../plan.md","text":"out"}`, `append_artifact {"name":".plan","text":"hidden"}`,
		`read_artifact {"path":"notes/log.txt"}`)
	three := calls(`write_artifact {"name":"data.json","text":"{}"}`, `list_artifacts {}`)
	m := script{answers: []said{{calls: one}, {calls: two}, {calls: three}, {text: "Done."}}}
	events, state := talk(t, chat.Input{Message: "Write."}, chat.Config{Stream: m.stream, Tools: set}, nil, nil)
	if state.Status != messages.Completed {
		t.Fatalf("%+v, %+v", state.End, state.End.Error)
	}
	files := map[string]string{}
	err = fs.WalkDir(folder.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = folder.ReadFile(name)
			files[name] = string(text)
		}
		return err
	})
	want := map[string]string{"plan.md": "two", "plan.md.1": "one", "notes/log.txt": "abc", "data.json": "{}"}
	if err != nil || !maps.Equal(files, want) {
		t.Errorf("the folder has %v: %v", files, err)
	}
	for _, a := range state.Artifacts {
		if text, ok := want[a.Name]; !ok || a.Partial || a.Bytes != int64(len(text)) || a.SHA256 != messages.Digest(text) {
			t.Errorf("an artifact is %+v", a)
		}
		delete(want, a.Name)
	}
	if len(want) > 0 {
		t.Errorf("there are no artifacts %v", slices.Sorted(maps.Keys(want)))
	}
	var said []string
	for _, e := range events {
		if b, ok := e.Body.(messages.ToolCompleted); ok && b.Error != nil {
			said = append(said, b.Error.Message)
		}
	}
	if got := strings.Join(said, "\n"); len(said) != 3 || !strings.Contains(got, "not JSON") || !strings.Contains(got, "../plan.md") ||
		!strings.Contains(got, ".plan") {
		t.Errorf("the errors are\n%s", got)
	}
	last := m.requests[2].Messages
	if text := last[len(last)-1].Content; !strings.Contains(text, "abc") {
		t.Errorf("the model reads %q", text)
	}
}
