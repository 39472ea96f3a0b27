package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/host"
)

// steering is what a stranger writes into names and texts, as JSON: it sets the clipboard, the title, the terminal, and the
// direction of writing.
const steering = `\u001b]52;c;ZXZpbA==\u0007\u001b]0;TITLE\u0007\u001bc\u009b2J\u202e`

// strangers is a server all of whose answers try to steer the terminal. Without names, texts alone do.
func strangers(t *testing.T, names string) (url, recording string) {
	event := func(seq int, kind, payload string) string {
		return fmt.Sprintf(`{"run_id":"r_a%s","seq":%d,"ts":"2026-11-28T19:00:00Z","type":%q,"message":"m%s","payload":%s}`, names, seq, kind, steering, payload)
	}
	recording = event(1, "run.queued", `{"job":"prompt`+names+`","input":{"text":"`+steering+`"},"mode":"detached"}`) + "\n" +
		event(2, "run.started", `{"node":"n`+names+`","epoch":1}`) + "\n" +
		event(3, "run.failed", `{"by":"run","cause":"error`+names+`","error":{"code":"error`+names+`","message":"`+steering+`"},"artifacts":[]}`) + "\n"
	state := strings.NewReplacer("N", names, "T", steering).Replace(`{"run_id":"r_aN","seq":3,"status":"failed","job":"promptN","input":"T",
		"queued_at":"2026-11-28T19:00:00Z","updated_at":"2026-11-28T19:00:01Z","queued":{"job":"promptN","input":{"text":"T"},"mode":"detached"},
		"end":{"by":"run","cause":"errorN","error":{"code":"xN","message":"T"}},"artifacts":[{"name":"aN","path":"aN","bytes":3,"sha256":"x"}],
		"inputs":[{"request":"qN","prompt":"T","schema":{}}]}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := state
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/events"):
			answer = recording
		case path == "/v1/runs" && r.Method == http.MethodGet:
			answer = `{"runs":[` + state + `]}`
		case path == "/v1/key":
			answer = `{"keys":["` + steering + `"]}`
		case path == "/v1/budget":
			answer = `{"days":[{"principal":"` + steering + `","day":"` + steering + `"}]}`
		case path == "/v1/jobs":
			answer = `{"jobs":[{"name":"x","description":"` + steering + `","schema":{"properties":{"a` + names + `":{"description":"` + steering + `"}}}}]}`
		case path == "/schedules":
			answer = `[{"name":"` + steering + `","job":"` + steering + `","when":"` + steering + `","run":"` + steering + `","note":"` + steering + `"}]`
		case path == "/webhooks":
			answer = `[{"name":"` + steering + `","url":"` + steering + `"}]`
		case path == "/faults":
			answer = `[{"point":"` + steering + `","about":"` + steering + `"}]`
		case strings.HasSuffix(path, "/models"):
			answer = `{"data":[{"id":"` + steering + `"}]}`
		case r.Method == http.MethodPost:
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, recording
}

// steered are the arguments with which each command meets strangers: S is their server, D a folder of their files. A
// command without arguments prints nothing that strangers write; acp and mcp speak JSON to a program.
var steered = map[string]string{
	"acp": "", "chat": "chat -m x --server S", "check": "check D/llms.txt", "mcp": "", "serve": "serve --jobs D/jobs.yaml",
	"ui": "ui --server S", "restore": "restore D/b.tgz D/new", "backup": "backup D/out.tgz --state D", "bundle": "bundle D/x.tgz --run last --server S",
	"config show": "config show --config D/s.yaml", "config check": "config check --config D/s.yaml", "doctor": "doctor --server S --timeout 2s --base-url S/v1",
	"explain": "explain last --server S", "fault ls": "fault ls --server S", "fault arm": "fault arm p --server S",
	"fault disarm": "fault disarm p --server S", "generate": "generate D --stdout --no-cache", "key": "key --server S",
	"models": "models --base-url S/v1", "models load": "models load x --base-url S/v1", "models unload": "models unload x --base-url S/v1",
	"plan check": "plan check D/p.yaml", "plan run": "plan run D/p.yaml --server S", "plan show": "plan show last --server S",
	"prompt": "prompt x --server S", "provider check": "provider check --base-url S/v1 --timeout 5s", "record": "record last --server S",
	"replay": "replay D/r.jsonl", "run": "run --detach --server S -- x", "runs ls": "runs ls --server S", "runs get": "runs get last --server S",
	"runs watch": "runs watch last --server S", "runs events": "runs events last --server S", "runs cancel": "runs cancel last --server S",
	"runs say": "runs say last x --wait --server S", "runs release": "runs release last --server S", "runs move": "runs move last --first --server S",
	"runs answer": "runs answer last x --server S", "runs rm": "runs rm last --server S", "runs retry": "runs retry last --server S",
	"runs proof": "runs proof last --server S", "runs files": "runs files last --server S", "jobs": "jobs --server S", "start": "start x --server S --help", "schedules ls": "schedules ls --server S", "verify": "verify last --server S",
	"webhooks ls": "webhooks ls --server S", "webhooks test": "webhooks test a --server S", "webhooks resend": "webhooks resend r_x --server S",
	"schedules pause": "schedules pause a --server S", "schedules resume": "schedules resume a --server S", "schedules run": "schedules run a --server S",
	"config path": "config path --config D/s.yaml", "plan graph": "plan graph D/p.yaml", "token list": "token list --tokens D/s.yaml",
	"token add": "token add a --tokens D/s.yaml", "token remove": "token remove a --tokens D/s.yaml",
	"conversations": "conversations --state D", "conversations ls": "conversations ls --state D", "conversations show": "conversations show a --state D",
	"conversations fork": "conversations fork a --state D", "conversations rename": "conversations rename a b --state D",
	"conversations rm": "conversations rm a --state D",
	"completion":       "", "config": "", "fault": "", "plan": "", "plan init": "", "provider": "", "runs": "", "schedules": "", "token": "",
	"version": "", "webhooks": "", "step": "", "mcp login": "mcp login x --mcp-config D/s.yaml",
	"agent": "", "agent allowed": "agent allowed --forget abcdefgh", "budget": "budget --server S", "mcp ls": "mcp ls --wrap a=S/mcp", "mcp approve": "mcp approve a/b",
}

// All commands that print are tried on a terminal: nothing that a server or a file says steers it. With -short each meets
// one of the two strangers.
func TestNoCommandIsSteered(t *testing.T) {
	var walk func(cmd *cobra.Command) []string
	walk = func(cmd *cobra.Command) (paths []string) {
		if cmd.Runnable() && cmd.HasParent() {
			_, path, _ := strings.Cut(cmd.CommandPath(), " ")
			paths = append(paths, path)
		}
		for _, sub := range cmd.Commands() {
			paths = append(paths, walk(sub)...)
		}
		return paths
	}
	for i, names := range []string{steering, ""} {
		url, recording := strangers(t, names)
		dir := t.TempDir()
		raw := strings.NewReplacer(`\u001b`, "\x1b", `\u0007`, "\a", `\u009b`, "\u009b", `\u202e`, "\u202e").Replace(steering)
		for name, text := range map[string]string{"r.jsonl": recording, "llms.txt": "# " + raw + "\n\n- [" + raw + "](x" + raw + ")\n", "b.tgz": raw,
			"jobs.yaml": raw + ": 1\n", "s.yaml": "\"" + steering + "\": 1\n", "p.yaml": "steps:\n- {name: \"a" + steering + "\", write: {name: x, text: y}}\n"} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		for j, path := range walk(rootCommand(&host.Program{})) {
			line, tried := steered[path]
			switch {
			case !tried:
				t.Errorf("lastword %s has not been tried: say in the table how it meets strangers", path)
			case line == "" || testing.Short() && i != j%2:
			default:
				s := start(t, []string{"HOME=" + dir}, append([]string{"lastword"}, strings.Fields(strings.NewReplacer("S", url, "D", dir).Replace(line))...)...)
				s.drawn = true
				s.until(func() bool { return false })
				if got := s.raw.String(); strings.Contains(got, "\x1b]") || strings.Contains(got, "\x1bc") || strings.ContainsAny(got, "\u009b\u202e") {
					t.Errorf("%s: the terminal is told\n%q", line, got)
				}
				s.kill()
			}
		}
	}
}
