package lab_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// TestDrivenClients is the part of make clients in which lastword drives coding agents of npm with a scripted model: OpenCode
// over ACP behind lastword's own door, and Codex by the JSON lines that it prints. With -short Codex alone is there.
func TestDrivenClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	npm := npmInstall(t, "agents")
	s := newAgentStage(t)
	for _, a := range agents(t, npm)[:2] {
		if testing.Short() && a.name != "codex" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			folder := t.TempDir()
			program := a.command(t, folder, s.way, "tool").Args
			args := append([]string{"run", "--jsonl", "--agent", a.name, "--", program[0], "exec", "--json"}, program[2:]...)
			if a.name == "opencode" {
				writeFile(t, filepath.Join(folder, "opencode.json"), []byte(`{"share":"disabled","autoupdate":false}`))
				args = []string{"agent", a.name, "tool", "--jsonl", "--through-door", "scripted", "--base-url", s.server + "/v1"}
			}
			cmd := exec.CommandContext(t.Context(), buildBinary(t), args...)
			cmd.Dir = folder
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program[0])+":"+os.Getenv("PATH"), "HOME="+folder, "XDG_CONFIG_HOME="+folder,
				"XDG_DATA_HOME="+filepath.Join(t.TempDir(), "data"), "XDG_CACHE_HOME="+folder, "XDG_STATE_HOME="+folder, "CODEX_HOME="+folder,
				"OPENCODE_CONFIG="+filepath.Join(folder, "opencode.json"), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
			var says strings.Builder
			cmd.Stderr, cmd.WaitDelay = &says, time.Second
			out, err := cmd.Output()
			var state messages.State
			for line := range strings.Lines(string(out)) {
				var e messages.Event
				must(t, json.Unmarshal([]byte(line), &e))
				var wrong error
				state, wrong = state.Apply(e)
				must(t, wrong)
			}
			said, tools := "", 0
			for _, one := range state.Streams {
				said += one.Text()
			}
			for _, c := range state.Calls {
				if !c.Model && c.Ended {
					tools++
				}
			}
			behind := a.name == "codex" || len(state.Children) >= 2
			if err != nil || state.Status != messages.Completed || !strings.Contains(said, "The tool says 42.") || tools != 1 || !behind {
				t.Fatalf("%v: it said %q with %d tools and %d sub-runs\n%s\n%s", err, said, tools, len(state.Children), out, &says)
			}
			clientRow{dialect: "agents", client: a.name, version: a.version, stories: 1, equal: 1}.print()
		})
	}
}
