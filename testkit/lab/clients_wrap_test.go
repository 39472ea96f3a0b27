package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWrapClients is the part of make clients in which calls of another server's tool take longer than clients wait: 30 s where
// a request may take 3 s, and LASTWORD_SLOW in agents. Each gets its result. With -short it is 6 s, and only one agent is there.
func TestWrapClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" {
		t.Skip("make clients runs this")
	}
	binary, slow := buildBinary(t), "30s"
	if testing.Short() {
		slow = "6s"
	}
	for _, sdk := range []string{"v1", "v2"} {
		t.Run("typescript sdk "+sdk, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "clients"), "slow.mjs"), sdk, "stdio",
				binary, "mcp", "--wrap", behindSettings(t, slow), "--ephemeral", "--wait", "1s")
			cmd.Env = atHome(t)
			if out, err := cmd.CombinedOutput(); err != nil || string(bytes.TrimSpace(out)) != "100" {
				t.Errorf("%s of 100 results came: %v", out, err)
			}
		})
	}
	for _, a := range agents(t, npmInstall(t, "agents"))[:2] {
		if testing.Short() && a.name != "codex" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			pause := os.Getenv("LASTWORD_SLOW")
			takes, err := time.ParseDuration(pause)
			must(t, err)
			s := newAgentStage(t)
			s.longest = takes + 3*time.Minute
			server := []string{binary, "mcp", "--wrap", behindSettings(t, pause), "--ephemeral"}
			plain := a.command
			a.command = func(t *testing.T, folder, base, says string) *exec.Cmd {
				cmd := plain(t, folder, base, says)
				addServer(t, a.name, folder, server)
				return cmd
			}
			if said, err := s.run(t, a, "slow", 0); err != nil || !strings.Contains(said, "The tool says 42.") {
				t.Errorf("%v, %s", err, said)
			}
		})
	}
}

// addServer adds a server of MCP to the settings of an agent in the folder.
func addServer(t *testing.T, agent, folder string, command []string) {
	t.Helper()
	if agent == "opencode" {
		file := filepath.Join(folder, "opencode.json")
		servers, err := json.Marshal(map[string]any{"lab": map[string]any{"type": "local", "command": command}})
		must(t, err)
		writeFile(t, file, bytes.Replace(readFile(t, file), []byte("{"), fmt.Appendf(nil, `{"mcp":%s,`, servers), 1))
		return
	}
	file := filepath.Join(folder, "config.toml")
	args, err := json.Marshal(command[1:])
	must(t, err)
	writeFile(t, file, fmt.Appendf(readFile(t, file), "[mcp_servers.lab]\ncommand = %q\nargs = %s\n", command[0], args))
}

// behindSettings names a file with the server behind, whose tool slow takes so long.
func behindSettings(t *testing.T, slow string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "servers.json")
	writeFile(t, file, fmt.Appendf(nil, `{"mcpServers":{"b":{"command":%q,"env":{%q:%q}}}}`, os.Args[0], behindServer, slow))
	return file
}
