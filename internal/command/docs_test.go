//go:build linux

package command_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
)

// documented returns the files of the page, by name.
func documented(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/commands.md")
	must(t, err)
	files := map[string]string{}
	for _, found := range regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		files[found[1]] = found[2]
	}
	return files
}

func TestDocumentedFileIsRight(t *testing.T) {
	file, err := command.Read([]byte(documented(t)["jobs.yaml"]), nil)
	if err != nil || file.Jobs["test"] == nil || len(file.Schedules) != 1 {
		t.Errorf("%v: %+v", err, file)
	}
}

// The programs of the page ask, tell progress, and leave an artifact and a result.
func TestDocumentedProgramsSayAll(t *testing.T) {
	files := documented(t)
	files["deploy.mjs"] = strings.NewReplacer("(line: object)", "(line)").Replace(files["deploy.ts"]) // as a compiler does
	for name, with := range map[string]string{"deploy.sh": "sh", "deploy.py": "python3", "deploy.mjs": "node"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(with); err != nil {
				t.Skip("there is no " + with)
			}
			if n := strings.Count(files[name], "\n"); n == 0 || n > 17 {
				t.Errorf("the program has %d lines", n)
			}
			dir, out := t.TempDir(), t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600))
			n := start(t, command.Command{Command: []string{with, name}, Dir: dir, Env: []string{"PATH", "HOME"}},
				command.Config{Folder: func(string) (string, error) { return out, nil }})
			id, steps := n.submit(""), int64(0)
			s := n.follow(id, func(s messages.State, e messages.Event) {
				if q, ok := e.Body.(messages.InputRequired); ok {
					if err := n.system.Answer(t.Context(), id, q.Request, json.RawMessage("true"), ""); err != nil {
						t.Error(err)
					}
				}
				for _, p := range s.Progress {
					steps = p.Done
				}
			})
			if s.Status != messages.Completed {
				t.Fatalf("%s: %v %q", s.Status, s.End.Error, lines(s))
			}
			if string(s.End.Result) != `{"hosts":3}` && string(s.End.Result) != `{"hosts": 3}` || steps != 3 || len(s.Artifacts) != 1 {
				t.Errorf("the result is %s after %d steps, with %v", s.End.Result, steps, s.Artifacts)
			}
			if text, err := os.ReadFile(filepath.Join(out, s.Artifacts[0].Path)); err != nil || string(text) != "deployed\n" {
				t.Errorf("the artifact is %q: %v", text, err)
			}
		})
	}
}

// What a program says wrongly is a warning, and its work goes on.
func TestWrongLinesAreWarnings(t *testing.T) {
	script := `printf '{"type":"text","name":"notes","text":"caf\303\251"}\nnot json\n{"type":"dance"}\n{"type":"artifact","path":"x"}\n\n{"type":"progress","done":1e300}\n' >&3
head -c 5000000 /dev/zero | tr '\0' x >&3; printf '\n{"type":"log","level":"error","text":"last"}\n{"type":"text","text":"half' >&3`
	s := run(t, command.Command{Command: shell(script)}, "")
	if s.Status != messages.Completed || output(s) != "café" || len(s.Notices) != 1 {
		t.Fatalf("%s with %q and %v: %v", s.Status, output(s), s.Notices, s.End.Error)
	}
	for i, want := range []string{"no JSON", `no type "dance"`, "too large", "more than", "last"} {
		if all := lines(s); len(all) != 5 || !strings.Contains(all[i], want) {
			t.Errorf("the log is %q, without %q", all, want)
		}
	}
}
