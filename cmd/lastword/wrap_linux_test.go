package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
)

func init() { programs["lastword-behind"] = behind }

// behind is a server whose tools lastword wraps. Its argument is a folder: each call writes a line to the pipe calls, and a
// slow one ends when it has read go. about is what it says of echo.
func behind() {
	dir := os.Args[1]
	handle := func(s *standin.MCPSession, method string, params json.RawMessage) (any, error) {
		if method == "tools/list" {
			about, err := os.ReadFile(filepath.Join(dir, "about"))
			if err != nil {
				about = []byte("Says it again.")
			}
			return json.RawMessage(fmt.Sprintf(`{"tools":[{"name":"slow","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},
				{"name":"pay","inputSchema":{"type":"object"}},
				{"name":"echo","title":"Echo","description":%q,"inputSchema":{"type":"object","x-odd":[1],"additionalProperties":false,"properties":{"text":{"type":"string"}}},"icons":[{"src":"a.png"}],
				"execution":{"taskSupport":"required"},"annotations":{"readOnlyHint":true,"odd":1},"_meta":{"ui":{"a":1}},"later":{"b":2}},
				{"name":"steps","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},
				{"name":"environment","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}`, about)), nil
		}
		var call struct {
			Name      string
			Arguments struct{ Text string }
			Meta      map[string]any `json:"_meta"`
		}
		if err := json.Unmarshal(params, &call); err != nil {
			return nil, err
		}
		if calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_WRONLY, 0); err == nil {
			fmt.Fprintln(calls, call.Name, call.Meta["io.github.seed889630bf.lastword/key"])
			calls.Close()
		}
		said := func(text string) (any, error) {
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}, nil
		}
		switch call.Name {
		case "echo":
			return json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q,"annotations":{"priority":1}},{"type":"hologram","depth":3}],
				"structuredContent":{"n":1.50},"isError":true,"_meta":{"mark":"kept"}}`, call.Arguments.Text)), nil
		case "environment":
			return said(strings.Join(os.Environ(), " "))
		case "steps":
			for _, done := range []float64{0, 0.5, 1} {
				s.Notify("notifications/progress", map[string]any{"progressToken": call.Meta["progressToken"], "progress": done, "total": 1,
					"message": fmt.Sprint("at ", done)})
			}
			return said("done")
		case "slow", "pay":
			_, _ = os.ReadFile(filepath.Join(dir, "go")) // an error lets it go on, too
			return said(call.Name + " is done")
		case "die":
			os.Exit(7)
		}
		return nil, errors.New("it refuses this")
	}
	standin.MCPServer{Handle: handle}.Serve(os.Stdin, os.Stdout)
}

// slowness has the pipes of a server behind. next returns the next call that it has got, and release lets all slow ones end.
func slowness(t *testing.T, dir string) (next func() string, release func()) {
	t.Helper()
	for _, name := range []string{"calls", "go"} {
		must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_RDWR, 0)
	must(t, err)
	t.Cleanup(func() { calls.Close() })
	lines := bufio.NewReader(calls)
	next = func() string {
		line, err := lines.ReadString('\n')
		must(t, err)
		return strings.TrimSpace(line)
	}
	return next, func() {
		must(t, errors.Join(os.Rename(filepath.Join(dir, "go"), filepath.Join(dir, "old")), os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)))
		if old, err := os.OpenFile(filepath.Join(dir, "old"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // somebody waits
			old.Close()
		}
	}
}

// wrapping starts lastword mcp with the server behind it, in the folder.
func wrapping(t *testing.T, dir string, more ...string) *mcpSession {
	t.Helper()
	return speak(t, dir, append([]string{"--wrap", "b=lastword-behind " + dir}, more...)...)
}

// The client gets the tools and what they answer as their server has written them. Only whether a tool can be a task is
// this server's affair.
func TestWrapChangesNothing(t *testing.T) {
	s := wrapping(t, t.TempDir(), "--ephemeral")
	var list struct{ Tools []json.RawMessage }
	must(t, json.Unmarshal(s.ask("tools/list", `{}`).Result, &list))
	var names []string
	for _, raw := range list.Tools {
		var tool struct{ Name string }
		must(t, json.Unmarshal(raw, &tool))
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "slow pay echo steps environment die run_wait run_answer run_cancel" {
		t.Errorf("the tools are %s", got)
	}
	const echo = `{"name":"echo","title":"Echo","description":"Says it again.","inputSchema":{"type":"object","x-odd":[1],` +
		`"additionalProperties":false,"properties":{"text":{"type":"string"}}},"icons":[{"src":"a.png"}],` +
		`"execution":{"taskSupport":"optional"},"annotations":{"readOnlyHint":true,"odd":1},"_meta":{"ui":{"a":1}},"later":{"b":2}}`
	if got := string(list.Tools[2]); got != echo {
		t.Errorf("echo is %s", got)
	}
	m := s.ask("tools/call", `{"name":"echo","arguments":{"text":"a <b> & c"}}`)
	var got, want any
	must(t, json.Unmarshal(m.Result, &got))
	must(t, json.Unmarshal([]byte(`{"content":[{"type":"text","text":"a <b> & c","annotations":{"priority":1}},{"type":"hologram","depth":3}],
		"structuredContent":{"n":1.50},"isError":true,"_meta":{"mark":"kept"}}`), &want))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the result is %s", m.Result)
	}
	if m := s.ask("tools/call", `{"name":"echoes"}`); !strings.Contains(string(m.Error), "-32602") {
		t.Errorf("an unknown tool: %s %s", m.Result, m.Error)
	}
	if m := s.ask("tools/call", `{"name":"nothing"}`); m.Error == nil {
		t.Errorf("it answers %s", m.Result)
	}
	for entry := range strings.FieldsSeq(s.call("environment", `{}`).Content[0].Text) {
		if name, _, _ := strings.Cut(entry, "="); !strings.Contains(" PATH HOME LANG LASTWORD_GUARD ", " "+name+" ") {
			t.Errorf("the server has %s", name)
		}
	}
	var numbers strings.Builder
	for id := s.send("tools/call", `{"name":"steps","_meta":{"progressToken":7}}`); ; {
		m := s.next()
		if m.ID != nil && *m.ID == id {
			break
		}
		var p struct {
			Token, Progress, Total float64
			Message                string
		}
		must(t, json.Unmarshal(m.Params, &p))
		fmt.Fprintf(&numbers, "%v/%v %s; ", p.Progress, p.Total, p.Message)
	}
	if numbers.String() != "0/1 at 0; 0.5/1 at 0.5; 1/1 at 1; " {
		t.Errorf("the progress is %s", numbers.String())
	}
}

// A call that takes long names its run, which goes on: also as a task, and when its client has left.
func TestWrapWaits(t *testing.T) {
	dir := t.TempDir()
	next, release := slowness(t, dir)
	s := wrapping(t, dir, "--ephemeral", "--wait", "50ms")
	a := s.call("slow", `{}`)
	if a.IsError || a.Structured.RunID == "" || a.Structured.Status != "working" || !strings.Contains(a.Content[0].Text, "run_wait") {
		t.Fatalf("%+v", a)
	}
	var created struct {
		Task struct{ TaskID, Status string }
	}
	must(t, json.Unmarshal(s.ask("tools/call", `{"name":"pay","task":{"ttl":60000}}`).Result, &created))
	next()
	next()
	release()
	waited := s.call("run_wait", fmt.Sprintf(`{"run_id":%q}`, a.Structured.RunID))
	if waited.IsError || waited.Structured.Status != "completed" || waited.Content[0].Text != "slow is done" {
		t.Errorf("%+v", waited)
	}
	if m := s.ask("tasks/result", fmt.Sprintf(`{"taskId":%q}`, created.Task.TaskID)); !strings.Contains(string(m.Result), `"text":"pay is done"`) {
		t.Errorf("the task's result is %s %s", m.Result, m.Error)
	}
}

// After kill -9 a call that may be repeated is made again with the same key, and another one ends and says what may be.
func TestWrapGoesOn(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	next, release := slowness(t, dir)
	s := wrapping(t, dir, "--state", state, "--wait", "1ms")
	slow, pay := s.call("slow", `{}`), s.call("pay", `{}`)
	next()
	next()
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait() // it was killed
	release()
	s = wrapping(t, dir, "--state", state)
	if a := s.call("run_wait", fmt.Sprintf(`{"run_id":%q}`, slow.Structured.RunID)); a.IsError || a.Content[0].Text != "slow is done" {
		t.Errorf("%+v", a)
	}
	a := s.call("run_wait", fmt.Sprintf(`{"run_id":%q}`, pay.Structured.RunID))
	if a.code() != messages.CauseNodeLost || !strings.Contains(a.Content[0].Text, "may have happened") {
		t.Errorf("%+v", a)
	}
	if made := next(); made != "slow "+string(slow.Structured.RunID) {
		t.Errorf("it calls %q", made)
	}
	if code := s.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A server that ends alone is started again.
func TestWrapStartsAServerAgain(t *testing.T) {
	s := wrapping(t, t.TempDir(), "--ephemeral")
	if a := s.call("die", `{}`); !a.IsError || !strings.Contains(a.Content[0].Text, "may have happened") {
		t.Errorf("%+v", a)
	}
	if a := s.call("echo", `{"text":"again"}`); a.Content[0].Text != "again" {
		t.Errorf("%+v", a)
	}
}

// The settings of a client name a server, and which of its tools are offered.
func TestWrapReadsSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "one.json")
	must(t, os.WriteFile(file, []byte(`{"mcpServers":{"c":{"command":"lastword-behind","args":["`+dir+`"],
		"includeTools":["echo"],"tools":{"echo":{"log":"digest"}}}}}`), 0o600))
	s := speak(t, dir, "--ephemeral", "--wrap", file)
	if list := string(s.ask("tools/list", `{}`).Result); !strings.Contains(list, `"name":"echo"`) || strings.Contains(list, `"name":"slow"`) {
		t.Errorf("the tools are %s", list)
	}
	if a := s.call("echo", `{"text":"private"}`); a.Content[0].Text != "private" {
		t.Errorf("%+v", a)
	}
}

// The operator sees which servers run and why another does not, and approves a tool that has changed.
func TestWrapListsAndApproves(t *testing.T) {
	dir, trust := t.TempDir(), settings.Trust+"="+t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := binary(t, dir, args...)
		cmd.Env = append(cmd.Env, trust)
		return cmd
	}
	ls := command("mcp", "ls", "--wrap", "b=lastword-behind "+dir, "--wrap", "bad=sh -c 'printf \"Error: it has no key\\n at main\\n\\nNode.js v22.1.0\\n\" >&2; exit 3'")
	list, err := ls.Output()
	if code := ls.ProcessState.ExitCode(); code != exit.Configuration {
		t.Errorf("exit code %d, %v", code, err)
	}
	rows := strings.Split(string(list), "\n")
	if len(rows) != 4 || !strings.Contains(rows[1], "running  slow pay echo steps environment die") ||
		!strings.HasPrefix(rows[2], "bad ") || !strings.Contains(rows[2], "down") || !strings.Contains(rows[2], "exit status 3: Error: it has no key") {
		t.Errorf("the servers are %s", list)
	}
	start := func() *served {
		return serving(t, command("serve", "--http", "127.0.0.1:0", "--state", filepath.Join(dir, "state"), "--wrap", "b=lastword-behind "+dir))
	}
	tools := func(s *served) (list string) {
		for range 60 { // a list leaves out a server that has not started for 2 s
			resp := s.post("", "tools/list", "", `"cursor":""`)
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			must(t, err)
			if list = string(body); strings.Contains(list, `"name":"slow"`) {
				break
			}
		}
		return list
	}
	s := start()
	if !strings.Contains(tools(s), `"name":"echo"`) {
		t.Error("a new tool is not offered")
	}
	s.ends(syscall.SIGTERM)
	must(t, os.WriteFile(filepath.Join(dir, "about"), []byte("Sends all."), 0o600))
	s = start()
	if strings.Contains(tools(s), `"name":"echo"`) {
		t.Error("a changed tool is offered")
	}
	for range 2 {
		if out, err := command("mcp", "approve").Output(); err != nil || string(out) != "b/echo\n" {
			t.Errorf("what waits is %s, %v", out, err)
		}
	}
	must(t, command("mcp", "approve", "b/echo").Run())
	if !strings.Contains(tools(s), `"description":"Sends all."`) {
		t.Error("an approved tool is not offered")
	}
	s.ends(syscall.SIGTERM)
	if said := <-s.stderr; !strings.Contains(said, "lastword mcp approve b/echo") {
		t.Errorf("the operator reads %s", said)
	}
}

// A server shows each tool as a job and an operation of OpenAPI: start takes its arguments as flags, and plan check knows what it takes.
func TestWrapToolsAreJobs(t *testing.T) {
	dir := t.TempDir()
	s := serving(t, binary(t, dir, "serve", "--http", "127.0.0.1:0", "--state", filepath.Join(dir, "state"), "--wrap", "b=lastword-behind "+dir))
	at := "--server=" + strings.TrimSuffix(s.url, host.MCPPath)
	if out, err := binary(t, dir, "start", "b/echo", at, "--text", "by name", "--json").Output(); err != nil || !strings.Contains(string(out), `"text": "by name"`) {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := binary(t, dir, "start", "b/echo", at, "--text", "for people").Output(); err != nil || string(out) != "for people\n[hologram; --json prints it]\n" {
		t.Errorf("for people it prints %q, %v", out, err)
	}
	if out, err := binary(t, dir, "start", "b/echo", at, "--text", "3", "--number", "x").CombinedOutput(); err == nil {
		t.Errorf("an unknown argument is taken: %s", out)
	}
	if _, document := s.get("/openapi.json"); !strings.Contains(document, `"/v1/tools/b/echo":{"post"`) || !strings.Contains(document, `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"type":"object"}`) {
		t.Errorf("the document is %s", document)
	}
	check := func(job, input string) string {
		put(t, filepath.Join(dir, "plan.yaml"), "name: p\nsteps:\n  - {name: one, job: "+job+", input: "+input+"}\n")
		out, _ := binary(t, dir, "plan", "check", "plan.yaml", at).CombinedOutput() // what it says tells
		return string(out)
	}
	for job, want := range map[string]string{
		"tool|{server: b, tool: echo, arguments: {text: a}}":      "",
		`tool|{server: b, tool: echo, arguments: {text: "${1}"}}`: "",
		"tool|{server: b, tool: echo, arguments: {text: 1}}":      "does not take the arguments",
		"tool|{server: b, tool: eco}":                             "the server b has no tool eco; did you mean echo?",
		"b/echo|{text: a}":                                        "job: tool",
	} {
		job, input, _ := strings.Cut(job, "|")
		if said := check(job, input); want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%s %s: %s", job, input, said)
		}
	}
	s.ends(syscall.SIGTERM)
}

// Killed at any moment, the gateway makes calls again that may be repeated. The others have happened once at most, and end with
// their result or say node_lost. None is silent, and nothing of the server behind is left.
func TestWrapKilled(t *testing.T) {
	dir, state, kills := t.TempDir(), t.TempDir(), crashCycles(t)
	if testing.Short() {
		kills = 5
	}
	next, release := slowness(t, dir)
	release()
	for range kills {
		s := wrapping(t, dir, "--state", state)
		s.ask("tools/list", `{}`)
		for range 4 {
			s.send("tools/call", `{"name":"slow"}`)
			s.send("tools/call", `{"name":"pay"}`)
		}
		time.Sleep(rand.N(40 * time.Millisecond)) // the kill is to come at any moment
		s.signal(syscall.SIGKILL)
		_ = s.cmd.Wait() // it was killed
	}
	if code := wrapping(t, dir, "--state", state).ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	calls, _ := os.OpenFile(filepath.Join(dir, "calls"), os.O_WRONLY, 0) // the pipe is there
	fmt.Fprintln(calls, "over")
	calls.Close()
	made := map[string]int{}
	for call := next(); call != "over"; call = next() {
		made[call]++
	}
	list := run(t, nil, "runs", "ls", "--state", state, "--limit", "1000", "--json")
	again, lost, runs := 0, 0, 0
	for line := range strings.Lines(list.stdout) {
		var r messages.Summary
		must(t, json.Unmarshal([]byte(line), &r))
		tool := strings.TrimPrefix(r.Labels["mcp.tool"], "b/")
		n := made[tool+" "+string(r.RunID)]
		delete(made, tool+" "+string(r.RunID))
		switch {
		case tool == "slow" && r.Status == messages.Completed && n > 0:
			again += n - 1
		case tool == "pay" && r.Status == messages.Completed && n == 1:
		case tool == "pay" && r.Cause == messages.CauseNodeLost && n <= 1:
			lost++
		default:
			t.Errorf("%d calls of the run %s", n, line)
		}
		runs++
	}
	if len(made) > 0 || runs == 0 {
		t.Errorf("no log has the calls %v; %+v", made, list)
	}
	t.Logf("%d runs: %d calls again, %d lost", runs, again, lost)
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), "lastword-behind\x00"+dir) {
			t.Errorf("the process %s is left: %q", file, text)
		}
	}
}
