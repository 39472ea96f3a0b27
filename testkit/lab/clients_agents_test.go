package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// agent is a client that brings tools of its own.
type agent struct {
	name, version string
	cuts          int // after so many frames at most is an answer cut; starting OpenCode takes long
	// retries says that it sends a request again whose answer was cut.
	retries bool
	// command is the client in a folder, with the base URL and what the user says.
	command func(t *testing.T, folder, base, says string) *exec.Cmd
}

// agents are the clients of npm in the folder.
func agents(t *testing.T, npm string) []agent {
	node := func(api string) func(*testing.T, string, string, string) *exec.Cmd {
		return func(t *testing.T, folder, base, says string) *exec.Cmd {
			return exec.CommandContext(t.Context(), "node", filepath.Join(npm, "agent.mjs"), api, base, "scripted", says)
		}
	}
	return []agent{
		{"codex", npmVersion(t, npm, "@openai/codex"), 4, true, func(t *testing.T, folder, base, says string) *exec.Cmd {
			writeFile(t, filepath.Join(folder, "config.toml"), fmt.Appendf(nil, "model = \"scripted\"\nmodel_provider = \"lastword\"\n"+
				"[model_providers.lastword]\nname = \"lastword\"\nbase_url = %q\nwire_api = \"responses\"\n", base))
			return exec.CommandContext(t.Context(), filepath.Join(npm, "node_modules", ".bin", "codex"), "exec", "--skip-git-repo-check",
				"--dangerously-bypass-approvals-and-sandbox", says)
		}},
		{"opencode", npmVersion(t, npm, "opencode-linux-x64"), 2, false, func(t *testing.T, folder, base, says string) *exec.Cmd {
			writeFile(t, filepath.Join(folder, "opencode.json"), fmt.Appendf(nil, `{"model":"lastword/scripted","share":"disabled","autoupdate":false,`+
				`"provider":{"lastword":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"scripted":{"tool_call":true}}}}}`, base))
			return exec.CommandContext(t.Context(), filepath.Join(npm, "node_modules", "opencode-linux-x64", "bin", "opencode"), "run", "--format", map[bool]string{true: "json", false: "default"}[slices.Contains(cutAnswers, says)], says)
		}},
		{"ai sdk", npmVersion(t, npm, "@ai-sdk/openai-compatible"), 6, false, node("ai")},
		{"openai runTools", npmVersion(t, npm, "openai"), 6, false, node("openai")},
		{"openai responses", npmVersion(t, npm, "openai"), 6, false, node("responses")},
	}
}

// TestAgentClients is the part of make clients for coding agents, with lastword as their provider: their tools are called and
// the results go on, a failure is one, an answer that the model server cut is told as cut, and none of its calls runs. An answer
// whose connection is cut after any frame is no success, unless the agent asks again: then the model is not. With -short one agent of each API is there.
func TestAgentClients(t *testing.T) {
	onlyBy(t, "clients")
	for _, a := range agents(t, npmInstall(t, "agents")) {
		if testing.Short() && a.name != "codex" && a.name != "ai sdk" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			s := newAgentStage(t)
			row := clientRow{dialect: "openai", client: a.name, version: a.version}
			for says, want := range map[string]string{"whole": "All is well.", "tool": "The tool says 42.", "fail": ""} {
				row.stories++
				before := s.asked.Load()
				said, err := s.run(t, a, says, 0)
				turns := s.asked.Load() - before
				if (err == nil) != (want != "") || !strings.Contains(said, want) || strings.Contains(said, "42") && says != "tool" {
					t.Errorf("%s: %v after %d turns, %s", says, err, turns, said)
					continue
				}
				row.equal++
			}
			for _, says := range cutAnswers {
				row.stories++
				before := s.asked.Load()
				said, err := s.run(t, a, says, 0)
				if !cutWord.MatchString(fmt.Sprint(said, err)) || s.asked.Load() != before+1 || s.ran.Load() {
					t.Errorf("%s: %v after %d turns, %s", says, err, s.asked.Load()-before, said)
					continue
				}
				row.equal++
			}
			s.judgeRuns(t)
			for n := 1; n <= a.cuts; n++ {
				before := s.asked.Load()
				said, err := s.run(t, a, "whole", n)
				if !s.wasCut.Load() {
					break
				}
				row.cuts++
				if whole := strings.Contains(said, "All is well."); err == nil && !whole || a.retries && (err != nil || !whole || s.asked.Load() != before+1) {
					t.Errorf("cut after %d frames: %v after %d turns, %s", n, err, s.asked.Load()-before, said)
				}
			}
			row.print()
		})
	}
}

// agentStage is a server with a scripted model, and a way to it that cuts.
type agentStage struct {
	server, way string
	asked       atomic.Int64 // how often the model was asked for a turn
	cutAfter    atomic.Int64 // frames of the next answer; 0 is no cut
	wasCut      atomic.Bool
	ran         atomic.Bool   // whether the client ran the call touch
	longest     time.Duration // that the client may take
}

// cutAnswers are what a user says for an answer that the model server cuts: in its text, and in its second call.
var cutAnswers = []string{"short", "half"}

// cutWord is in what a client says of such an answer. OpenCode says it in the reason of a step alone.
var cutWord = regexp.MustCompile(`ended by length|length limit was reached|max_output_tokens|"reason":"length"`)

func newAgentStage(t *testing.T) *agentStage {
	s := &agentStage{longest: time.Minute}
	model := httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(model.Close)
	s.server = serve(t, "--ephemeral", "--dialects", "openai", "--base-url", model.URL+"/v1")
	at, err := url.Parse(s.server)
	must(t, err)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Header.Set("Accept-Encoding", "identity") // frames are counted
	}}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The body is read first: net/http closes it when an answer begins, and where the proxy is not done with it then, it
		// gives up the answer.
		said, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(said))
		if r.Method == http.MethodPost {
			if n := s.cutAfter.Swap(0); n > 0 {
				w = &agentCut{w, s, n}
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { way.CloseClientConnections(); way.Close() })
	s.way = way.URL + "/v1"
	return s
}

// run has the agent say something in its own folder, and returns what it prints.
func (s *agentStage) run(t *testing.T, a agent, says string, cut int) (string, error) {
	t.Helper()
	folder := t.TempDir()
	s.wasCut.Store(false)
	cmd := a.command(t, folder, s.way, says)
	s.cutAfter.Store(int64(cut))
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CACHE_HOME="+folder,
		"XDG_STATE_HOME="+folder, "CODEX_HOME="+folder, "OPENCODE_CONFIG="+filepath.Join(folder, "opencode.json"), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	hung := time.AfterFunc(s.longest, func() { _ = cmd.Process.Kill() })
	defer hung.Stop()
	err := cmd.Run()
	_, missing := os.Stat(filepath.Join(folder, "ran"))
	s.ran.Store(missing == nil)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return stdout.String(), err
}

// agentCut is an answer that is cut after so many frames.
type agentCut struct {
	http.ResponseWriter
	stage *agentStage
	left  int64
}

func (w *agentCut) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *agentCut) Write(data []byte) (int, error) {
	written := 0
	for frame := range bytes.SplitAfterSeq(data, []byte("\n\n")) {
		if w.left <= 0 && len(frame) > 0 {
			w.stage.wasCut.Store(true)
			panic(http.ErrAbortHandler)
		}
		n, err := w.ResponseWriter.Write(frame)
		written += n
		if err != nil {
			return written, err
		}
		if bytes.HasSuffix(frame, []byte("\n\n")) {
			w.left--
		}
	}
	return written, nil
}

// goesOn is in what a tool says of a run that is not done, and waitedRun is its id.
var goesOn, waitedRun = regexp.MustCompile(`run_wait|\\"working`), regexp.MustCompile(`r_[a-z0-9]{26}`)

// answer is the model: it calls the agent's tool for commands if the user says so, and tells what the tool said.
func (s *agentStage) answer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","object":"model"}]}`)
		return
	}
	_ = json.NewDecoder(r.Body).Decode(&q) // a request without messages gets an error
	if len(q.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	last := q.Messages[len(q.Messages)-1]
	says := string(last.Content)
	chunk := func(delta string, finish string) {
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","model":"scripted","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		_ = http.NewResponseController(w).Flush()
	}
	text := func(words ...string) {
		for _, word := range words {
			chunk(fmt.Sprintf(`{"content":%q}`, word), "null")
		}
		chunk("{}", `"stop"`)
	}
	served := func(tool string, arguments any) { // a call of a tool of a server of MCP, whatever the agent's name for it
		for _, t := range q.Tools {
			if strings.HasSuffix(t.Function.Name, tool) {
				tool = t.Function.Name
			}
		}
		text, _ := json.Marshal(arguments) // strings
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":%q,"arguments":%q}}]}`, tool, text), "null")
		chunk("{}", `"tool_calls"`)
	}
	call := func(index int, command string, lost int) {
		name, member := "bash", "command"
		for _, tool := range q.Tools {
			if tool.Function.Name == "exec_command" {
				name, member = "exec_command", "cmd"
			}
		}
		arguments, _ := json.Marshal(map[string]string{member: command, "description": "Adds"}) // strings
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%[1]d","type":"function","function":{"name":%q,"arguments":%q}}]}`,
			index, name, arguments[:len(arguments)-lost]), "null")
	}
	if len(q.Tools) > 0 {
		s.asked.Add(1)
	}
	if strings.Contains(says, "fail") && len(q.Tools) > 0 {
		http.Error(w, `{"error":{"message":"no such luck","type":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch {
	case len(q.Tools) == 0:
		text("A title")
	case last.Role == "tool" && goesOn.MatchString(says):
		served("run_wait", map[string]string{"run_id": waitedRun.FindString(says)})
	case last.Role == "tool":
		found := "nothing"
		if strings.Contains(says, "42") {
			found = "42"
		}
		text("The tool ", "says ", found, ".")
	case strings.Contains(says, "slow"):
		served("slow", struct{}{})
	case strings.Contains(says, "tool"):
		call(0, "echo $((6*7))", 0)
		chunk("{}", `"tool_calls"`)
	case strings.Contains(says, "half"): // the first call is whole, the second is cut
		call(0, "touch ran", 0)
		call(1, "touch ran", 9)
		chunk("{}", `"length"`)
	case strings.Contains(says, "short"):
		chunk(`{"content":"All is"}`, "null")
		chunk("{}", `"length"`)
	default:
		text("All ", "is ", "well.")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// judgeRuns: every turn is a run of the job prompt, and the runs of a conversation have one label.
func (s *agentStage) judgeRuns(t *testing.T) {
	t.Helper()
	c, err := api.New(s.server, "")
	must(t, err)
	runs, _, err := c.List(t.Context(), messages.Query{Limit: 100}, "")
	must(t, err)
	turns := map[string]int{}
	for _, run := range runs {
		turns[run.Labels[messages.ContextLabel]]++
	}
	if most := slices.Max(slices.Collect(maps.Values(turns))); len(turns) < 3 || most < 2 || int64(len(runs)) < s.asked.Load() {
		t.Errorf("%d turns are %d runs, by their conversations %v", s.asked.Load(), len(runs), turns)
	}
}
