package lab_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// coder is an agent that asks a model by the API of its own provider.
type coder struct {
	name, version string
	acp, headless []string
	once          string // the option that allows a call once
}

// TestCoderClients is the part of make clients for Gemini CLI and Claude Code, which ask a scripted model by the APIs of their
// providers. A server starts them over ACP: a person allows their call, and its change is an artifact.
// lastword run reads the JSON lines that they print. With -short it is left out: the programs have 420 MB.
func TestCoderClients(t *testing.T) {
	if os.Getenv("LASTWORD_CLIENTS") == "" || testing.Short() {
		t.Skip("make clients runs this")
	}
	npm, home, root := npmInstall(t, "coders"), t.TempDir(), t.TempDir()
	model := httptest.NewServer(http.HandlerFunc(foreignModel))
	t.Cleanup(model.Close)
	bin := filepath.Join(npm, "node_modules", ".bin")
	claude := filepath.Join(npm, "node_modules", "@anthropic-ai", "claude-agent-sdk-linux-x64", "claude")
	coders := []coder{
		{"gemini", npmVersion(t, npm, "@google/gemini-cli"), []string{filepath.Join(bin, "gemini"), "--acp"},
			[]string{filepath.Join(bin, "gemini"), "--yolo", "-o", "stream-json", "-p", "tool"}, "proceed_once"},
		{"claude", npmVersion(t, npm, "@agentclientprotocol/claude-agent-acp"), []string{filepath.Join(bin, "claude-agent-acp")},
			[]string{claude, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash", "-p", "tool"}, "allow-once"},
	}
	must(t, os.Mkdir(filepath.Join(home, ".gemini"), 0o700))
	writeFile(t, filepath.Join(home, ".gemini", "settings.json"), []byte(`{"security":{"auth":{"selectedType":"gemini-api-key"}},"telemetry":{"enabled":false}}`))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + model.URL}
	allowed := map[string]any{}
	for _, a := range coders {
		allowed[a.name] = map[string]any{"command": a.acp, "roots": []string{root}, "env": env}
	}
	jobs, err := json.Marshal(map[string]any{"agents": allowed}) // YAML, too
	must(t, err)
	file, tokens := filepath.Join(root, "jobs.yaml"), filepath.Join(root, "tokens")
	writeFile(t, file, jobs)
	lastword := buildBinary(t)
	token, err := exec.CommandContext(t.Context(), lastword, "token", "add", "--file", tokens, "mia", "--scope", "run:read,run:write,run:answer,run:agent").Output()
	must(t, err)
	client, err := api.New(serve(t, "--ephemeral", "--jobs", file, "--tokens", tokens), strings.TrimSpace(string(token)))
	must(t, err)
	for _, a := range coders {
		t.Run(a.name, func(t *testing.T) {
			folder := filepath.Join(root, a.name)
			must(t, os.Mkdir(folder, 0o700))
			input, err := json.Marshal(map[string]string{"agent": a.name, "prompt": "tool", "dir": folder})
			must(t, err)
			id, err := client.Submit(t.Context(), messages.Request{Job: "agent", Input: input})
			must(t, err)
			asked := 0
			for e, err := range client.Follow(t.Context(), id, messages.FollowOptions{}) {
				must(t, err)
				if q, is := e.Body.(messages.InputRequired); is {
					asked++
					must(t, client.Answer(t.Context(), id, q.Request, json.RawMessage(`"`+a.once+`"`)))
				}
			}
			state, err := client.State(t.Context(), id)
			must(t, err)
			judgeCoder(t, state)
			if asked != 1 || len(state.Artifacts) != 1 || state.Artifacts[0].Name != "changes.patch" {
				t.Errorf("it asked %d times, with the artifacts %v", asked, state.Artifacts)
			}
			cmd := exec.CommandContext(t.Context(), lastword, append([]string{"run", "--jsonl", "--agent", a.name, "--"}, a.headless...)...)
			cmd.Dir, cmd.Env, cmd.WaitDelay = folder, env, time.Second
			out, err := cmd.Output()
			must(t, err)
			state = messages.State{}
			for line := range strings.Lines(string(out)) {
				var e messages.Event
				must(t, json.Unmarshal([]byte(line), &e))
				state, err = state.Apply(e)
				must(t, err)
			}
			judgeCoder(t, state)
			clientRow{dialect: "agents", client: a.name, version: a.version, stories: 2, equal: 2}.print()
		})
	}
}

// saidAndCalled returns the texts of a run, and the number of its calls of tools that have ended.
func saidAndCalled(state messages.State) (said string, tools int) {
	for _, one := range state.Streams {
		said += one.Text()
	}
	for _, c := range state.Calls {
		if !c.Model && c.Ended {
			tools++
		}
	}
	return said, tools
}

// judgeCoder requires one call of a tool, and what it said.
func judgeCoder(t *testing.T, state messages.State) {
	t.Helper()
	said, tools := saidAndCalled(state)
	if state.Status != messages.Completed || said != "The tool says 42." || tools != 1 {
		t.Fatalf("%s: it said %q with %d tools: %+v %+v", state.Status, said, tools, state.End, state.Log.Lines)
	}
}

// foreignModel is a model behind the APIs of Anthropic and Gemini, with what the two programs look at. It calls the tool for
// commands if the user says "tool", and tells what the tool said.
func foreignModel(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages, Contents []json.RawMessage
		Tools              []json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&q) // a request without messages gets {}
	send := func(event, format string, args ...any) {
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		fmt.Fprintf(w, "data: "+format+"\n\n", args...)
		_ = http.NewResponseController(w).Flush()
	}
	last := ""
	if all := append(q.Messages, q.Contents...); len(all) > 0 {
		last = string(all[len(all)-1])
	}
	found := "nothing"
	if strings.Contains(last, "42") {
		found = "42"
	}
	const command = `{"command":"expr 6 \\* 7 | tee made","description":"Multiplies"}`
	w.Header().Set("Content-Type", "text/event-stream")
	gemini := func(part, more string) {
		send("", `{"candidates":[{"content":{"role":"model","parts":[%s]},"index":0%s}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"totalTokenCount":107}}`, part, more)
	}
	const stop = `,"finishReason":"STOP"`
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, ":streamGenerateContent") && strings.Contains(last, "functionResponse"):
		gemini(`{"text":"The tool "}`, "")
		gemini(fmt.Sprintf(`{"text":"says %s."}`, found), stop)
	case strings.HasSuffix(path, ":streamGenerateContent"):
		gemini(`{"functionCall":{"name":"run_shell_command","args":`+command+`}}`, stop)
	case strings.HasSuffix(path, ":generateContent"): // it asks how difficult the task is
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"{\"complexity_reasoning\":\"none\",\"complexity_score\":1}"}]},"finishReason":"STOP"}]}`)
	case path == "/v1/messages" && len(q.Messages) > 0:
		send("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"usage":{"input_tokens":100,"output_tokens":1}}}`)
		reason := "end_turn"
		if strings.Contains(last, "tool_result") || len(q.Tools) == 0 {
			send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
			for _, text := range []string{"The tool ", "says ", found + "."} {
				send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
			}
		} else {
			reason = "tool_use"
			send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}`)
			send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, command)
		}
		send("content_block_stop", `{"type":"content_block_stop","index":0}`)
		send("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":7}}`, reason)
		send("message_stop", `{"type":"message_stop"}`)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}
}

// TestDrivenClients is the part of make clients in which lastword drives coding agents of npm with a scripted model: OpenCode
// over ACP behind lastword's own door, and Codex by the JSON lines that it prints. With -short Codex alone is there.
func TestDrivenClients(t *testing.T) {
	onlyBy(t, "clients")
	npm, s := npmInstall(t, "agents"), newAgentStage(t)
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
			said, tools := saidAndCalled(state)
			behind := a.name == "codex" || len(state.Children) >= 2
			if err != nil || state.Status != messages.Completed || !strings.Contains(said, "The tool says 42.") || tools != 1 || !behind {
				t.Fatalf("%v: it said %q with %d tools and %d sub-runs\n%s\n%s", err, said, tools, len(state.Children), out, &says)
			}
			clientRow{dialect: "agents", client: a.name, version: a.version, stories: 1, equal: 1}.print()
		})
	}
}
