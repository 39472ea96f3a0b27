package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// confirming has a job that asks a person first, one whose caller may confirm, and one whose program asks for words.
const confirming = `
jobs:
  deploy: {command: ["true"], confirm: "Deploy?"}
  trusting: {command: ["true"], confirm: "Deploy?", confirm_by: caller}
  words: {command: [sh, -c, 'echo "{\"type\":\"ask\",\"name\":\"confirm\",\"prompt\":\"Who?\"}" >&3; read -r answer']}
`

// awaited is a run that asks "confirm", in the conversation "x" of its caller.
type awaited struct {
	*served
	t     *testing.T
	token string
	id    messages.RunID
}

func (s *served) asks(t *testing.T, token, job string) awaited {
	c, err := api.New(s.base(), token)
	must(t, err)
	id, err := c.Submit(t.Context(), messages.Request{Job: job, Labels: map[string]string{"context": t.Name()}})
	must(t, err)
	for e, err := range c.Follow(t.Context(), id, messages.FollowOptions{}) {
		must(t, err)
		if e.Kind() == messages.KindInputRequired {
			break
		}
	}
	return awaited{s, t, token, id}
}

// closed reports whether the question has an answer.
func (a awaited) closed() bool {
	c, err := api.New(a.base(), a.token)
	must(a.t, err)
	state, err := c.State(a.t.Context(), a.id)
	must(a.t, err)
	return state.Inputs[0].Closed
}

// send posts a body with the token and header fields in pairs. It returns what says whether it was refused.
func (a awaited) send(path, body string, header ...string) string {
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.base()+path, strings.NewReader(body))
	must(a.t, err)
	r.Header.Set("Content-Type", "application/json")
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	must(a.t, err)
	defer response.Body.Close()
	first := make([]byte, 4096) // a stream may go on
	n, _ := response.Body.Read(first)
	return string(first[:n])
}

func (a awaited) path() string { return "/v1/runs/" + string(a.id) + "/input/confirm" }

// Ways to answer "yes" at each door, by the dialect's name.
var answering = map[string]func(a awaited) string{
	"/v1": func(a awaited) string { return a.send(a.path(), `{"value":true}`) },
	"/v1/ws": func(a awaited) string {
		o := &websocket.DialOptions{HTTPHeader: http.Header{}}
		if a.token != "" {
			o.HTTPHeader.Set("Authorization", "Bearer "+a.token)
		}
		c, _, err := websocket.Dial(a.t.Context(), a.base()+"/v1/ws", o)
		must(a.t, err)
		defer c.CloseNow()
		must(a.t, c.Write(a.t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"op":"answer","id":"1","run":%q,"request":"confirm","value":true}`, a.id)))
		_, reply, err := c.Read(a.t.Context())
		must(a.t, err)
		return string(reply)
	},
	"nano": func(a awaited) string {
		return a.send("/nano/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run","params":{"stream":true,"prompt":"yes","context":%q}}`, a.t.Name()))
	},
	"erlmcp": func(a awaited) string {
		return a.send("/erlmcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"stream/answer","params":{"streamId":%q,"request":"confirm","value":true}}`, a.id))
	},
	"looopy": func(a awaited) string {
		return a.send("/api/sse/message", fmt.Sprintf(`{"contextId":%q,"inputs":[{"inputId":"confirm","value":true}]}`, a.t.Name()))
	},
	"ai-sdk": func(a awaited) string {
		return a.send("/api/chat", fmt.Sprintf(`{"id":%q,"messages":[{"id":%q,"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"ask","toolCallId":"confirm","state":"approval-responded","approval":{"approved":true}}]}]}`, a.t.Name(), a.id))
	},
	"ag-ui": func(a awaited) string {
		return a.send("/agui", fmt.Sprintf(`{"threadId":%q,"runId":"r","messages":[],"resume":[{"interruptId":"confirm","status":"resolved","payload":true}]}`, a.t.Name()))
	},
	"openai": func(a awaited) string {
		return a.send("/v1/chat/completions", `{"model":"chat","stream":true,"messages":[{"role":"user","content":"yes"}]}`, "X-Chat-Id", a.t.Name())
	},
	"a2a": func(a awaited) string {
		return a.send("/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","taskId":%q,"parts":[{"data":true}]}}}`, a.id), "A2A-Version", "1.0")
	},
	"mcp": func(a awaited) string {
		return a.send("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_answer","arguments":{"run_id":%q,"request":"confirm","value":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, a.id),
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "run_answer")
	},
}

// agents are the doors behind which a model answers.
var agents = []string{"a2a", "mcp"}

// The table of who may answer, through every door of a server: a new dialect needs a row in answering.
func TestWhoMayAnswer(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), confirming)
	args := []string{"--jobs", "jobs.yaml", "--ephemeral", "--dialects", "all"}
	file := filepath.Join(dir, "tokens")
	token := func(name, scopes string) string {
		return strings.TrimSpace(run(t, nil, "token", "add", "--file", file, name, "--scope", scopes).stdout)
	}
	tokens := map[string]string{"": "", "writer": token("writer", "run:read,run:write"), "answerer": token("answerer", "run:read,run:write,run:answer"), "root": token("root", "admin")}
	open, closed := serveHTTP(t, dir, args...), serveHTTP(t, dir, append(args, "--tokens", file)...)
	lax := serveHTTP(t, dir, append(args, "--agents-may-confirm")...)
	doors := append(host.DialectNames(), "/v1", "/v1/ws", "mcp")
	for _, door := range slices.DeleteFunc(doors, func(name string) bool { return name == "all" }) {
		answer, agent := answering[door], slices.Contains(agents, door)
		if answer == nil {
			t.Errorf("nobody has decided who may answer through %s", door)
			continue
		}
		for who, token := range tokens {
			s := closed
			if who == "" {
				s = open
			}
			may := !agent && (who == "answerer" || who == "root")
			for job, want := range map[string]bool{"deploy": may, "words": true, "trusting": may || agent} {
				t.Run(strings.ReplaceAll(door, "/", "")+"-"+who+"-"+job, func(t *testing.T) {
					a := s.asks(t, token, job)
					said := answer(a)
					if a.closed() != want {
						t.Errorf("the question is answered: %v, want %v: %s", !want, want, said)
					}
					if !want && !strings.Contains(said, s.base()+"/runs/"+string(a.id)) {
						t.Errorf("the refusal does not name the page: %s", said)
					}
				})
			}
		}
		if agent {
			t.Run(door+"-lax", func(t *testing.T) {
				a := lax.asks(t, "", "deploy")
				if said := answer(a); !a.closed() {
					t.Errorf("--agents-may-confirm: %s", said)
				}
			})
		}
	}
}

// The page confirms with its session, with tokens and without.
func TestThePageConfirms(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), confirming)
	s := serveHTTP(t, dir, "--jobs", "jobs.yaml", "--ephemeral")
	page := testkit.OpenURL(t.Context(), t, http.MethodGet, s.base()+"/", "", "Sec-Fetch-Site", "none")
	page.Body.Close()
	cookie, _, _ := strings.Cut(page.Header.Get("Set-Cookie"), ";")
	for _, c := range []struct {
		header []string
		want   bool
	}{{[]string{"Cookie", cookie}, false}, {[]string{"Origin", s.base()}, false}, {[]string{"Origin", s.base(), "Cookie", cookie}, true}} {
		a := s.asks(t, "", "deploy")
		if said := a.send(a.path(), `{"value":true}`, c.header...); a.closed() != c.want {
			t.Errorf("%v: answered is %v: %s", c.header, !c.want, said)
		}
	}
}

// A program inside a run gets none of the server's variables, but a token: for sub-runs, for no answer, and dead with
// the run.
func TestInsideARun(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), confirming+`  inside:
    command: [sh, -c, 'env >env; echo "{\"type\":\"ask\",\"name\":\"confirm\",\"prompt\":\"Who?\"}" >&3; read -r answer']
    env: [PATH, LASTWORD_KEPT]
    starts: [deploy]
    dir: `+dir+"\n")
	cmd := binary(t, dir, "serve", "--http", "127.0.0.1:0", "--jobs", "jobs.yaml", "--ephemeral")
	cmd.Env = append(cmd.Environ(), "LASTWORD_KEPT=secret", "LASTWORD_API_KEY=sk-0123456789abcdef")
	s := serving(t, cmd)
	a := s.asks(t, "", "inside")
	text, err := os.ReadFile(filepath.Join(dir, "env"))
	must(t, err)
	variables := string(text)
	if strings.Contains(variables, "KEPT") || strings.Contains(variables, "sk-0123") {
		t.Errorf("the program has the server's variables:\n%s", variables)
	}
	_, rest, _ := strings.Cut(variables, "LASTWORD_TOKEN=")
	token, _, _ := strings.Cut(rest, "\n")
	c, err := api.New(s.base(), token)
	must(t, err)
	if err := c.Answer(t.Context(), a.id, "confirm", json.RawMessage(`"me"`)); err == nil || a.closed() {
		t.Error("the program answers its own question")
	}
	child, err := c.Submit(t.Context(), messages.Request{Job: "deploy"})
	if err != nil || !strings.HasPrefix(string(child), string(a.id)+".") {
		t.Errorf("a start inside the run: %s %v", child, err)
	}
	for _, q := range []messages.Request{
		{Job: "inside"}, {Job: "plan", Input: json.RawMessage(`{"plan":{"name":"p","steps":[{"name":"a","job":"inside"}]}}`)},
		{Job: "plan", Input: json.RawMessage(`{"plan":{"name":"p","steps":[{"name":"a","plan":{"name":"q","steps":[{"name":"b","job":"inside"}]}}]}}`)},
	} {
		if _, err := c.Submit(t.Context(), q); messages.CodeOf(err) != "forbidden" {
			t.Errorf("the program starts %s %s, which is not listed: %v", q.Job, q.Input, err)
		}
	}
	outside := s.asks(t, "", "deploy")
	if _, err := c.State(t.Context(), outside.id); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("the program reads another run: %v", err)
	}
	if list, _, err := c.List(t.Context(), messages.Query{}, ""); err != nil || len(list) != 2 {
		t.Errorf("the program sees %d runs, %v", len(list), err)
	}
	must(t, mustClient(t, s).Cancel(t.Context(), a.id, ""))
	for range mustClient(t, s).Follow(t.Context(), a.id, messages.FollowOptions{}) { // to its end
	}
	if _, err := c.State(t.Context(), a.id); err == nil {
		t.Error("the token outlives the run")
	}
}

func mustClient(t *testing.T, s *served) *api.Client {
	c, err := api.New(s.base(), "")
	must(t, err)
	return c
}
