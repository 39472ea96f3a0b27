package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A coding agent is started by the scope for it or by a person, also by a plan, and by nothing inside a run.
func TestWhoMayStartAgents(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), confirming+fmt.Sprintf("agents:\n  mine: {command: [\"true\"], roots: [%q]}\n", dir))
	file := filepath.Join(dir, "tokens")
	token := func(name, scopes string) string {
		return strings.TrimSpace(run(t, nil, "token", "add", "--file", file, name, "--scope", scopes).stdout)
	}
	writer, starter := token("writer", "run:read,run:write"), token("starter", "run:read,run:write,run:agent")
	args := []string{"--jobs", "jobs.yaml", "--ephemeral"}
	open, closed := serveHTTP(t, dir, args...), serveHTTP(t, dir, append(args, "--tokens", file)...)
	for job, input := range map[string]string{
		"agent": `{"agent":"mine","prompt":"p"}`,
		"plan":  `{"plan":"steps:\n  - {name: inner, plan: {steps: [{name: go, job: agent, input: {agent: mine, prompt: p}}]}}\n"}`,
	} {
		for who, c := range map[string]struct {
			*served
			token string
			want  messages.Code
		}{"writer": {closed, writer, "forbidden"}, "starter": {closed, starter, ""}, "nobody": {open, "", "forbidden"}} {
			client, err := api.New(c.base(), c.token)
			must(t, err)
			if _, err := client.Submit(t.Context(), messages.Request{Job: job, Input: json.RawMessage(input)}); messages.CodeOf(err) != c.want {
				t.Errorf("%s starts %s: %v", who, job, err)
			}
		}
	}
	page := testkit.OpenURL(t.Context(), t, http.MethodGet, open.base()+"/", "", "Sec-Fetch-Site", "none")
	page.Body.Close()
	cookie, _, _ := strings.Cut(page.Header.Get("Set-Cookie"), ";")
	started := testkit.OpenURL(t.Context(), t, http.MethodPost, open.base()+"/v1/runs", `{"job":"agent","input":{"agent":"mine","prompt":"p"}}`,
		"Content-Type", "application/json", "Origin", open.base(), "Cookie", cookie)
	started.Body.Close()
	if started.StatusCode >= 300 {
		t.Errorf("the page starts none: %s", started.Status)
	}
	_, err := mustClient(t, serveHTTP(t, dir, "--ephemeral")).Submit(t.Context(), messages.Request{Job: "agent", Input: json.RawMessage(`{}`)})
	if messages.CodeOf(err) != messages.CauseInvalidInput || !strings.Contains(err.Error(), "no job") {
		t.Error("a server whose file names no agent starts one")
	}
}

// asksOnce is an agent that asks before it does something, and says what it was answered.
const asksOnce = `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-7"}}'
read a; echo '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s-7","toolCall":{"toolCallId":"c1","title":"touch made","rawInput":{"command":"touch made"},"kind":"execute"},"options":[{"optionId":"once","kind":"allow_once"},{"optionId":"ever","kind":"allow_always"},{"optionId":"no","kind":"reject_once"}]}}'
read a; echo "$a" >&2; touch made; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; cat >/dev/null`

// An agent in the background outlives the command that started it, and a person at another terminal answers it. A
// permanent answer is kept: it answers the same question later, the log names it, and the person takes it back.
func TestAgentGoesOnAndKeepsAnswers(t *testing.T) {
	dir, home := t.TempDir(), binary(t, "").Env
	put(t, filepath.Join(dir, "agent"), asksOnce)
	lastword := func(args ...string) string {
		cmd := binary(t, dir, args...)
		cmd.Env = home
		var says strings.Builder
		cmd.Stderr = &says
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, &says)
		}
		return string(out)
	}
	asks := func(state string) bool {
		id := strings.TrimSpace(lastword("agent", "--background", "--prompt", "p", "--state", state, "--", "sh", "agent"))
		for s := (messages.State{}); ; {
			must(t, json.Unmarshal([]byte(lastword("runs", "get", id, "--state", state)), &s))
			if s.Status.IsEnded() || len(s.Inputs) > 0 {
				return !s.Status.IsEnded()
			}
		}
	}
	answer := func(state, value string) string {
		startIn(t, "", dir, home, "lastword", "runs", "answer", "last", value, "--state", state).ends(exit.Completed)
		for {
			if said := lastword("runs", "events", "last", "--state", state); strings.Contains(said, "run.completed") {
				return said
			}
		}
	}
	if !asks("1") {
		t.Fatal("it asks nobody")
	}
	if said := answer("1", "ever"); !strings.Contains(said, `\"optionId\":\"once\"`) {
		t.Errorf("the agent keeps a permanent answer: %s", said)
	}
	id, _, _ := strings.Cut(strings.Split(lastword("agent", "allowed"), "\n")[1], " ")
	if asks("2") || !strings.Contains(lastword("runs", "events", "last", "--state", "2"), "allowed by "+id) {
		t.Error("it asks again, or does not say what allowed the call")
	}
	lastword("agent", "allowed", "--forget", id)
	if !asks("3") {
		t.Error("an answer that was taken back still holds")
	}
	answer("3", "no")
}

// waitsForGo is an agent that keeps what it is offered in a file, and works until there is another.
const waitsForGo = `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}'
read a; echo "$a" >"$0.got"; env >"$0.env"; mv "$0.got" "$0.new"; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-7"}}'
read a; until [ -e "$0.go" ]; do sleep 0.02; done; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; cat >/dev/null`

// offeredTo returns the MCP server that the agent waitsForGo in the folder is offered: a URL, or a command.
func offeredTo(t *testing.T, dir string) (url, token string, command *exec.Cmd) {
	var got struct {
		Params struct {
			MCPServers []struct {
				Type, URL, Command string
				Args               []string
				Headers, Env       []struct{ Name, Value string }
			}
		}
	}
	for {
		if line, err := os.ReadFile(filepath.Join(dir, "agent.new")); err == nil {
			must(t, json.Unmarshal(line, &got))
			break
		}
	}
	at := got.Params.MCPServers[0]
	if at.Command != "" {
		cmd := exec.CommandContext(t.Context(), at.Command, at.Args...)
		cmd.Env = os.Environ()
		for _, v := range at.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		return "", "", cmd
	}
	token, bearer := strings.CutPrefix(at.Headers[0].Value, "Bearer ")
	if at.Type != "http" || !bearer {
		t.Fatalf("the agent is offered %+v", at)
	}
	return at.URL, token, nil
}

// An agent of a command line is offered a server, too: by HTTP, or as a command, which connects it with the same server. It
// starts generate alone, within the tree of its run, and nobody else is served there.
func TestAgentOfACommandHasAServer(t *testing.T) {
	for _, takesHTTP := range []bool{true, false} {
		dir := plant(t, gardenText)
		garden := fmt.Sprintf(`{"repository":%q}`, filepath.Join(dir, "garden"))
		agent := waitsForGo
		if !takesHTTP {
			agent = strings.Replace(agent, `"http":true`, ``, 1)
		}
		put(t, filepath.Join(dir, "agent"), agent)
		cmd := binary(t, dir, "agent", "--prompt", "p", "--jsonl", "--", "sh", "agent")
		var events strings.Builder
		cmd.Stdout = &events
		must(t, cmd.Start())
		at, token, command := offeredTo(t, dir)
		if takesHTTP {
			s := &served{t: t, url: at}
			if a := s.call(token, "generate", garden); a.IsError {
				t.Errorf("generate says %+v", a)
			}
			if a := s.call(token, "run_start", `{"job":"prompt","input":{"text":"p"}}`); !a.IsError {
				t.Errorf("it starts another job: %+v", a)
			}
			none := s.post("", "tools/list", "", "")
			none.Body.Close()
			if none.StatusCode != http.StatusUnauthorized {
				t.Errorf("it serves anybody: %s", none.Status)
			}
		} else {
			s := speakTo(t, command)
			if a := s.call("generate", garden); a.IsError || len(a.events) == 0 {
				t.Errorf("generate says %+v", a)
			}
			if code := s.ends(); code != exit.Completed {
				t.Errorf("it exits with %d: %s", code, &s.stderr)
			}
		}
		put(t, filepath.Join(dir, "agent.go"), "")
		must(t, cmd.Wait())
		if !strings.Contains(events.String(), `"child.started"`) {
			t.Errorf("generate is no sub-run: %s", &events)
		}
	}
}

// An agent gets lastword's own MCP server, with a token that is for that alone. It starts sub-runs, of the commands that its
// operator lists, sees no other runs, and ends with the run.
func TestAgentsOwnServer(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "agent"), waitsForGo)
	put(t, filepath.Join(dir, "jobs.yaml"), confirming+fmt.Sprintf("agents:\n  mine: {command: [sh, %q], roots: [%q], env: [PATH], starts: [deploy]}\n", filepath.Join(dir, "agent"), dir))
	file := filepath.Join(dir, "tokens")
	owner := strings.TrimSpace(run(t, nil, "token", "add", "--file", file, "owner", "--scope", "run:read,run:write,run:answer,run:agent").stdout)
	s := serveHTTP(t, dir, "--jobs", "jobs.yaml", "--ephemeral", "--tokens", file)
	client, err := api.New(s.base(), owner)
	must(t, err)
	other, err := client.Submit(t.Context(), messages.Request{Job: "words", Input: json.RawMessage(`{}`)})
	must(t, err)
	id, err := client.Submit(t.Context(), messages.Request{Job: "agent", Input: json.RawMessage(`{"agent":"mine","prompt":"p"}`)})
	must(t, err)
	at, token, _ := offeredTo(t, dir)
	if at != s.url {
		t.Fatalf("the agent is offered %s", at)
	}
	if variables, err := os.ReadFile(filepath.Join(dir, "agent.env")); err != nil || strings.Contains(string(variables), "LASTWORD_TOKEN") {
		t.Errorf("it has the token in its variables, %v", err)
	}
	for name, c := range map[string]struct{ tool, arguments, code string }{
		"a listed command": {"run_start", `{"job":"deploy","input":{}}`, ""}, "another command": {"run_start", `{"job":"words","input":{}}`, "forbidden"},
		"an agent":           {"run_start", `{"job":"agent","input":{"agent":"mine","prompt":"p"}}`, "forbidden"},
		"a run of its owner": {"run_get", `{"run_id":"` + string(other) + `"}`, "not_found"},
	} {
		if a := s.call(token, c.tool, c.arguments); string(a.code()) != c.code {
			t.Errorf("%s: %q, and not %q", name, a.code(), c.code)
		}
	}
	if inside, err := api.New(s.base(), token); err == nil {
		if _, err := inside.State(t.Context(), id); messages.CodeOf(err) != "forbidden" {
			t.Errorf("the token is for the API, too: %v", err)
		}
	}
	must(t, client.Cancel(t.Context(), id, ""))
	for _, err := range client.Follow(t.Context(), id, messages.FollowOptions{}) {
		must(t, err)
	}
	dead := s.post(token, "tools/list", "", "")
	dead.Body.Close()
	if dead.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token of a run that has ended: %s", dead.Status)
	}
}

// Behind the door an agent gets one model with a token of its run, and never the operator's key. The budget counts what the
// door sees, and not what the agent says, and is left to the door's calls.
func TestAgentThroughTheDoor(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("All is well."), testkit.Finish("stop"), standin.Frame(`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7}}`), testkit.Done())
	dir := t.TempDir()
	put(t, filepath.Join(dir, "agent"), `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-7"}}'
read a; ask() { lastword prompt --base-url "$OPENAI_BASE_URL" --model "$1" hello 2>&1; }; text=$(ask "$OPENAI_MODEL"); ask other >&2; OPENAI_API_KEY=x ask "$OPENAI_MODEL" >&2
env | grep operators-key >&2; echo '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$text"'"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":5000,"outputTokens":5000}}}'; cat >/dev/null`)
	cmd := binary(t, dir, "agent", "--prompt", "p", "--jsonl", "--through-door", "m-1", "--base-url", m.URL(),
		"--budget", "tokens=2000", "--", "sh", "agent")
	cmd.Env = append(cmd.Env, "OPENAI_API_KEY=operators-key-1234567890")
	out, err := cmd.Output()
	must(t, err)
	var s messages.State
	for line := range strings.Lines(string(out)) {
		var e messages.Event
		must(t, json.Unmarshal([]byte(line), &e))
		s, err = s.Apply(e)
		must(t, err)
	}
	var lines []string
	for _, l := range s.Log.Lines {
		lines = append(lines, l.Text)
	}
	said := strings.Join(lines, "\n")
	if text, _ := s.Stream("answer.1"); text.Text() != "All is well." || s.Purse == nil || s.Purse.Spent.Tokens != 107 {
		t.Errorf("the answer is %q, and %+v is spent", text.Text(), s.Purse)
	}
	if !strings.Contains(said, `no model "other"`) || !strings.Contains(said, "http 401") || strings.Contains(said, "operators-key") {
		t.Errorf("the door opens for others: %s", said)
	}
	if calls := m.Requests(); len(calls) != 1 {
		t.Errorf("the model is asked by %v", calls)
	}
	for flags, says := range map[string]string{"claude p --through-door m-1": "leave out --through-door", "codex p --budget cost=1USD": `price for the model "codex"`} {
		if got := run(t, nil, append([]string{"agent"}, strings.Fields(flags)...)...); got.code == exit.Completed || !strings.Contains(got.stderr, says) {
			t.Errorf("%s: %+v", flags, got)
		}
	}
}
