//go:build linux

package agent_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

// ends are the outcomes of recordings that do not complete.
var ends = map[string]string{
	"kill-turn": "transport_closed", "claude-stdin-turn": "transport_closed", "gemini-stdin-turn": "transport_closed",
	"cut": "provider_error", "err401": "provider_error", "codex-refuse": "error permission_refused", "opencode-bgtool": "stalled",
	"cancel-perm": "canceled", "cancel-tool": "canceled", "cancel-stream": "canceled", "cancel-retry": "canceled",
	"codex-guardian-cancel-perm": "completed", "codex-guardian-cancel-tool": "completed", // their turn ended before
}

// TestRecordings replays what real agents said over ACP. Each run has the outcome that it deserves, and leaves no call
// open.
func TestRecordings(t *testing.T) {
	for _, name := range names(t, "acp") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, what, _ := strings.Cut(name, "-")
			want := cmp.Or(ends[name], ends[what], "completed")
			in := agent.Input{Agent: who, Prompt: "do it", Dir: t.TempDir()}
			if what == "load" {
				in.Session = "session-1"
			}
			config := replays(t, name, in.Dir)
			if config.Idle = time.Minute; want == "stalled" {
				config.Idle = time.Second
			}
			s := runOf(t, in, nil, config, people(t, chosen(name)))
			if got := outcome(s); got != want {
				t.Fatalf("%s, and not %s: %+v", got, want, s.End.Error)
			}
			for _, c := range s.Calls {
				if !c.Ended && s.Status != messages.Canceled {
					t.Errorf("the call %s is open", c.ID)
				}
			}
			if text := answer(s); strings.Contains(text, "notice") || strings.Count(text, "one two ") > 1 {
				t.Errorf("the answer is %q", text)
			}
		})
	}
}

// TestVerdicts: what the recordings have not. The last message of a turn, and what came before it, decide.
func TestVerdicts(t *testing.T) {
	update := func(u string) string { return `{"method":"session/update","params":{"update":` + u + `}}` }
	text := func(id, piece string) string {
		return update(`{"sessionUpdate":"agent_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + piece + `"}}`)
	}
	long := strings.Repeat("word", 4100)
	stop := func(why string) string { return `{"id":3,"result":{"stopReason":"` + why + `"}}` }
	call := update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"execute","rawInput":{"command":"x"}}`)
	for name, test := range map[string]struct {
		end, answer string
		says        []string
	}{
		"requests":          {"limit_exceeded", "", []string{stop("max_turn_requests")}},
		"tokens":            {"limit_exceeded", "so far", []string{text("m", "so far"), stop("max_tokens")}},
		"withdrawn":         {"completed", "", []string{`{"id":"q","method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","rawInput":{"command":"a && b"}}}}`, `{"method":"$/cancel_request","params":{"requestId":"q"}}`, stop("end_turn")}},
		"a budget":          {"limit_exceeded budget", long, []string{text("m", long)}},
		"its cost":          {"limit_exceeded budget", "", []string{update(`{"sessionUpdate":"usage_update","cost":{"amount":2,"currency":"USD"}}`)}},
		"no cost":           {"invalid_input", "no", []string{text("m", "no"), stop("end_turn")}},
		"refusal":           {"error refused", "no", []string{text("m", "no"), stop("refusal")}},
		"odd names":         {"completed", "", []string{update(`{"sessionUpdate":"tool_call","toolCallId":"a\u202e","name":"n\u0007","status":"completed"}`), `{"id":"3","result":{"stopReason":"end\u202e"}}`}},
		"an open call":      {"completed", "", []string{call, stop("end_turn")}},
		"a login":           {"provider_error auth_required", "", []string{`{"id":3,"error":{"code":-32000,"message":"\u001b[31mAuthentication required\u001b[0m"}}`}},
		"its server's code": {"provider_error", "so far", []string{text("m", "so far"), `{"id":3,"error":{"code":500,"message":"Internal"}}`}},
		"another error":     {"error", "", []string{`{"id":3,"error":{"code":-32603,"message":"Internal error"}}`}},
		"a lost answer":     {"stalled", "all of it", []string{text("m", "all of it")}},
		"a cut, a new id":   {"completed", "one two three", []string{text("m", "one "), text("m", "two "), text("n", "one "), text("n", "two "), text("n", "three"), stop("end_turn")}},
		"two messages":      {"completed", "one more", []string{text("m", "one "), text("m", "two "), text("n", "one more"), stop("end_turn")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := []string{"sh", "-c", `read a; echo '{"id":1,"result":{"protocolVersion":1}}'; read a; echo '{"id":2,"result":{"sessionId":"s"}}'; read a
cat <<'end'` + "\n" + strings.Join(test.says, "\n") + "\nend\nread a"}
			s := runOf(t, agent.Input{Prompt: "p", Dir: t.TempDir()}, line, agent.Config{Idle: time.Second}, nil)
			if got := outcome(s); got != test.end || answer(s) != test.answer {
				t.Errorf("%s with %q, and not %s: %+v", got, answer(s), test.end, s.End.Error)
			}
			if e := s.End.Error; e != nil && strings.ContainsAny(e.Message, "\x1b[") {
				t.Errorf("colors are in the error %q", e.Message)
			}
			if n := len(s.Calls); n > 0 && !s.Calls[n-1].Ended || len(s.Inputs) > 0 && !(s.Inputs[0].Closed && strings.Contains(s.Inputs[0].Prompt, "a && b")) {
				t.Errorf("a call or a question is open: %+v, %+v", s.Calls, s.Inputs)
			}
		})
	}
}

// chosen returns the option that the recording's client has chosen.
func chosen(name string) (option string) {
	steps, _ := recording("acp", name)
	for _, s := range steps {
		var m struct {
			Result struct{ Outcome struct{ OptionID string } }
		}
		if s.From == "client" && json.Unmarshal(s.Msg, &m) == nil && m.Result.Outcome.OptionID != "" {
			option = m.Result.Outcome.OptionID
		}
	}
	return option
}

// people answer permissions, and cancel when the recording's client does.
func people(t *testing.T, option string) func(*actors.System, messages.RunID, messages.Event) {
	return func(s *actors.System, id messages.RunID, e messages.Event) {
		value, _ := json.Marshal(option)
		switch b := e.Body.(type) {
		case messages.InputRequired:
			if option == "" {
				return
			}
			if err := s.Answer(t.Context(), id, b.Request, value, ""); err != nil {
				t.Error(err)
			}
		case messages.Log:
			if slices.ContainsFunc(b.Lines, func(l messages.LogLine) bool { return l.Text == "cancel now" }) {
				if err := s.Cancel(t.Context(), id, "", ""); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestHeadlessRecordings reads what real agents printed for programs.
func TestHeadlessRecordings(t *testing.T) {
	want := map[string]string{"claude-401": "provider_error", "claude-cut": "provider_error", "codex-401": "provider_error", "gemini-401": "provider_error",
		"gemini-cut": "provider_error", "opencode-tool": "error permission_refused"}
	for _, name := range names(t, "headless") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, what, _ := strings.Cut(name, "-")
			s := headless(t, who, prints(t, name, ""), false)
			end := want[name]
			if end == "" {
				end = "completed"
			}
			if got := outcome(s); got != end {
				t.Fatalf("%s, and not %s: %+v", got, end, s.End)
			}
			if text := answer(s); end == "completed" && text != map[bool]string{true: "The answer is four.", false: "Done: the scripted answer after 1 tool results."}[what == "text" || what == "stream"] {
				t.Errorf("the answer is %q", text)
			}
			for _, c := range s.Calls {
				if !c.Ended {
					t.Errorf("the call %s is open", c.ID)
				}
			}
		})
	}
}

// prints is a program that prints a recording, and then does something.
func prints(t *testing.T, name, then string) command.Command {
	t.Helper()
	_, lines := recording("headless", name)
	file := filepath.Join(t.TempDir(), "lines")
	must(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600))
	return command.Command{Command: []string{"sh", "-c", "cat " + file + "; " + then}}
}

// TestSixShapes ends the ways in which coding agents hang, with the right outcome.
func TestSixShapes(t *testing.T) {
	shell := func(script string) command.Command { return command.Command{Command: []string{"sh", "-c", script}} }
	silent := func(c command.Command) command.Command { c.Idle = schedule.Duration(time.Second); return c }
	for name, test := range map[string]struct {
		agent  string
		does   command.Command
		end    string
		notice messages.NoticeCode
	}{
		"says success and stays":    {"claude", prints(t, "claude-text", "exec sleep 600"), "completed", "lingered"},
		"says success and fails":    {"claude", prints(t, "claude-text", "exit 3"), "completed", "lingered"},
		"has no last word":          {"opencode", prints(t, "opencode-text", "exec sleep 600"), "completed", "lingered"},
		"waits for its stdin":       {"codex", prints(t, "codex-text", "cat"), "completed", ""},
		"a child holds the pipe":    {"gemini", prints(t, "gemini-yolo", "sleep 600 & exit 0"), "completed", ""},
		"a permission nobody sees":  {"claude", shell(`echo '{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash"}}'; exec sleep 600`), "error permission_refused", ""},
		"a refused call":            {"claude", shell(`echo '{"type":"result","subtype":"success","result":"Done.","permission_denials":[{"tool_name":"Bash"}]}'`), "error permission_refused", ""},
		"the network is gone":       {"opencode", silent(shell(`echo '{"type":"step_start"}'; exec sleep 600`)), "stalled", ""},
		"its next step hangs":       {"opencode", silent(prints(t, "opencode-text", `echo '{"type":"step_start"}'; exec sleep 600`)), "stalled", ""},
		"it asks its model in vain": {"claude", silent(prints(t, "claude-401", "exec sleep 600")), "provider_error", ""},
		"it shortens its history":   {"claude", shell(`echo '{"type":"system","subtype":"init","session_id":"s"}'; while :; do echo '{"type":"system","subtype":"compact_boundary"}'; echo '{"type":"user","message":{"content":[{"type":"text","text":"a summary"}]}}'; sleep 0.01; done`), "stalled compaction_loop", ""},
		"it ends without a word":    {"codex", shell(`echo '{"type":"thread.started","thread_id":"t"}'`), "transport_closed", ""},
		"it closes its stdout":      {"codex", shell(`echo '{"type":"thread.started","thread_id":"t"}'; exec >&- sleep 600`), "error signal", ""},
		"it prints no JSON":         {"codex", shell(`echo codex 1.0`), "completed", ""},
		"it prints no JSON forever": {"codex", silent(shell(`while :; do echo codex 1.0; sleep 0.01; done`)), "stalled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			s := headless(t, test.agent, test.does, false)
			if outcome(s) != test.end || time.Since(began) > 30*time.Second {
				t.Errorf("%s after %v, and not %s: %+v", outcome(s), time.Since(began), test.end, s.End)
			}
			if got := len(s.Notices) > 0 && s.Notices[0].Code == test.notice; got != (test.notice != "") {
				t.Errorf("the notices are %v", s.Notices)
			}
		})
	}
	if s := headless(t, "opencode", prints(t, "opencode-tool", ""), true); outcome(s) != "transport_closed" {
		t.Errorf("with allowed denials: %s", outcome(s)) // it never said that it is done
	}
}

// TestWhatAnAgentSays checks the events of one turn.
func TestWhatAnAgentSays(t *testing.T) {
	s := headless(t, "claude", prints(t, "claude-bg", ""), false)
	var r agent.Result
	if err := json.Unmarshal(s.End.Result, &r); err != nil || r.Session != "session-1" || r.Cost == nil || r.Cost.Amount != 0.001336 {
		t.Errorf("the result is %s", s.End.Result)
	}
	if len(s.Calls) != 2 || s.Calls[0].Name != "claude-opus-5-5" || s.Calls[1].Name != "Bash" {
		t.Errorf("the calls are %+v", s.Calls)
	}
	s = headless(t, "claude", prints(t, "claude-text", ""), false)
	if len(s.Streams) != 2 || s.Streams[0].Text() != "consider then decide." || s.Streams[1].Text() != "The answer is four." {
		t.Errorf("the texts are %+v", s.Streams)
	}
}

// TestPermissionShowsWhole: a person sees all that an agent wants to do, and the agent gets the answer.
func TestPermissionShowsWhole(t *testing.T) {
	in := agent.Input{Agent: "claude", Prompt: "do it", Dir: t.TempDir()}
	config := replays(t, "claude-write", in.Dir)
	var asked messages.InputRequired
	answers := people(t, "allow-once")
	runOf(t, in, nil, config, func(s *actors.System, id messages.RunID, e messages.Event) {
		if b, ok := e.Body.(messages.InputRequired); ok {
			asked = b
		}
		answers(s, id, e)
	})
	fatal.IfLacking(t, asked.Prompt, "Write new.txt", `first line\nsecond line`, "allow-with-updates: Option (wider")
	if asked.InputKind != messages.InputConfirmation || string(asked.Schema) != `{"enum":["allow-once","allow-with-updates","reject"],"type":"string"}` {
		t.Errorf("it is a %s with %s", asked.InputKind, asked.Schema)
	}
}

// kept is a list in memory of what is allowed permanently.
type kept map[string]bool

func (k kept) Has(pin string) (bool, error) { return k[pin], nil }
func (k kept) Add(_, pin string) error      { k[pin] = true; return nil }

// TestAnswersForGood: a permanent answer holds for the same call, or for changes of the same file, and for nothing else.
// A choice of a mode is the agent's.
func TestAnswersForGood(t *testing.T) {
	list := kept{}
	line := speaksACP(`printf '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c",%s},` +
		`"options":[{"optionId":"one","kind":"allow_once"},{"optionId":"ever","kind":"allow_always"}]}}\n' "$CALL"; read a; echo "$a" >&2`)
	run := func(call, root, principal string) (asked bool, said string) {
		config := agent.Config{Allowed: list, Command: command.Config{Inherit: true, Environ: append(os.Environ(), "CALL="+call)}}
		job, err := agent.Job(agent.Input{Prompt: "p", Dir: root}, line, config)
		must(t, err)
		answers := people(t, "ever")
		s := follow(t, job, principal, func(s *actors.System, id messages.RunID, e messages.Event) {
			_, required := e.Body.(messages.InputRequired)
			asked = asked || required
			answers(s, id, e)
		})
		for _, l := range s.Log.Lines {
			said += l.Text + "\n"
		}
		return asked, said
	}
	a, b := t.TempDir(), t.TempDir()
	const runs, writes = `"kind":"execute","title":"x","rawInput":{"command":"x"}`, `"kind":"edit","title":"w","locations":[{"path":"/f"}],"rawInput":{"text":"1"}`
	for i, c := range []struct {
		call, root, principal string
		asked                 bool
		option                string
	}{
		{runs, a, "", true, "one"}, {runs, a, "", false, "one"}, {runs, b, "", true, "one"}, {runs, a, "another", true, "one"},
		{strings.Replace(runs, `:"x"}`, `:"x y"}`, 1), a, "", true, "one"},
		{writes, a, "", true, "one"}, {strings.Replace(writes, `"1"`, `"2"`, 1), a, "", false, "one"}, {strings.Replace(writes, "/f", "/g", 1), a, "", true, "one"},
		{`"kind":"switch_mode","title":"plan"`, a, "", true, "ever"},
	} {
		if asked, said := run(c.call, c.root, c.principal); asked != c.asked || !strings.Contains(said, `"optionId":"`+c.option+`"`) {
			t.Errorf("%d: it asks: %t, and the log says %s", i, asked, said)
		}
	}
}

// speaksACP is an agent in a few lines of shell: it does something, and answers.
func speaksACP(does string) []string {
	return []string{"sh", "-c", `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}'
read a; echo "$a" >&2; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-7"}}'
read a; ` + does + `; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'; cat >/dev/null`}
}

// TestChanges: what the agent has changed in its folder is an artifact, whatever the agent says of it.
func TestChanges(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "old"), []byte("before\n"), 0o600))
	config := agent.Config{Command: command.Config{Folder: func(string) (string, error) { return out, nil }}}
	s := runOf(t, agent.Input{Prompt: "p", Dir: dir}, speaksACP("echo after >old; echo x >new"), config, nil)
	if len(s.Artifacts) != 1 || outcome(s) != "completed" {
		t.Fatalf("%s with %v and %v", outcome(s), s.Artifacts, s.Notices)
	}
	patch, err := os.ReadFile(filepath.Join(out, s.Artifacts[0].Path))
	if err != nil || !bytes.Contains(patch, []byte("-before\n+after\n")) || !bytes.Contains(patch, []byte("new file")) {
		t.Errorf("%v: %s", err, patch)
	}
}

// TestSessions: a session goes on in its folder, and in no other.
func TestSessions(t *testing.T) {
	config := agent.Config{Sessions: t.TempDir()}
	in := agent.Input{Prompt: "p", Dir: t.TempDir()}
	runOf(t, in, speaksACP(":"), config, nil)
	in.Session = "last"
	s := runOf(t, in, speaksACP(":"), config, nil)
	if log := s.Log.Lines[0].Text; !strings.Contains(log, `"session/load"`) || !strings.Contains(log, `"s-7"`) {
		t.Errorf("the agent got %s", log)
	}
	in.Session = "s-7"
	job, err := agent.Job(in, speaksACP(":"), config)
	must(t, err)
	if s := follow(t, job, "another", nil); outcome(s) != "invalid_input" {
		t.Errorf("%s for another caller: %+v", outcome(s), s.End)
	}
	in.Dir = t.TempDir()
	if s := runOf(t, in, speaksACP(":"), config, nil); outcome(s) != "invalid_input" {
		t.Errorf("%s in another folder: %+v", outcome(s), s.End)
	}
}

// TestNamesAndRoots: only what the operator names starts, in a folder below a root.
func TestNamesAndRoots(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(root, "link")))
	config := agent.Config{Agents: map[string]command.Agent{"claude": {Roots: []string{root}}}}
	for name, in := range map[string]agent.Input{
		"no agent \"codex\" is allowed here": {Agent: "codex", Prompt: "p"},
		"outside the folders":                {Agent: "claude", Prompt: "p", Dir: filepath.Join(root, "link")},
		"needs a prompt":                     {Agent: "claude"},
		"is not allowed here":                {Agent: "claude", Prompt: "p", Mode: "bypassPermissions"},
	} {
		if _, err := agent.Job(in, nil, config); messages.CodeOf(err) != messages.CauseInvalidInput || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v", in, err)
		}
	}
	if _, err := agent.Job(agent.Input{Agent: "claude", Prompt: "p", Dir: root}, nil, config); err != nil {
		t.Error(err)
	}
	if err := agent.Check(map[string]command.Agent{"claud": {}}); err == nil || !strings.Contains(err.Error(), "claude") {
		t.Error(err)
	}
}

// TestMissingAgent says what installs it, and the variables of an agent around this process do not reach it.
func TestMissingAgent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := runOf(t, agent.Input{Agent: "gemini", Prompt: "p", Dir: t.TempDir()}, nil, agent.Config{}, nil)
	if outcome(s) != "error not_found" || !strings.Contains(s.End.Error.Message, "npm install -g @google/gemini-cli") {
		t.Errorf("%s: %v", outcome(s), s.End.Error)
	}
}

func TestNoVariablesOfAnOuterAgent(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
	s := headless(t, "claude", command.Command{Command: []string{"sh", "-c", "env | grep CLAUDE; true"}}, false)
	if len(s.Log.Lines) > 0 {
		t.Errorf("it has %v", s.Log.Lines)
	}
}

// TestSettingsOfOpenCode: they are JSON, whatever the model's name has.
func TestSettingsOfOpenCode(t *testing.T) {
	dir, model := t.TempDir(), "a\x01\u00a0\"b"
	must(t, os.WriteFile(filepath.Join(dir, "opencode"), []byte("#!/bin/sh\n/usr/bin/printenv OPENCODE_CONFIG_CONTENT >&2\n"), 0o700))
	t.Setenv("PATH", dir)
	config := agent.Config{ThroughDoor: model}
	config.Command.Inside = func(*actors.TaskContext, func(messages.Request) error) ([]string, func()) {
		return []string{"LASTWORD_SERVER=http://here", "LASTWORD_TOKEN=t\x7f"}, func() {}
	}
	s := runOf(t, agent.Input{Agent: "opencode", Prompt: "p", Dir: t.TempDir()}, nil, config, nil)
	var settings struct{ Model string }
	if len(s.Log.Lines) != 1 || json.Unmarshal([]byte(s.Log.Lines[0].Text), &settings) != nil || settings.Model != "lastword/"+model {
		t.Errorf("the settings are %+v: %v", s.Log.Lines, s.End.Error)
	}
}

// TestDeafAgent: an agent that answers no cancel, keeps its stdin open and ignores TERM ends soon.
func TestDeafAgent(t *testing.T) {
	began := time.Time{}
	s := runOf(t, agent.Input{Prompt: "p", Dir: t.TempDir()}, speaksACP("trap '' TERM; echo cancel now >&2; while :; do sleep 1; done"), agent.Config{},
		func(s *actors.System, id messages.RunID, e messages.Event) {
			people(t, "")(s, id, e)
			if _, canceling := e.Body.(messages.RunCanceling); canceling {
				began = time.Now()
			}
		})
	if took := time.Since(began); outcome(s) != "canceled" || took > 5*time.Second {
		t.Errorf("%s after %v", outcome(s), took)
	}
}

func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	must(t, err)
	_, text, _ := strings.Cut(string(page), "<!-- file: agents.yaml -->\n```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	file, err := command.Read([]byte(text), nil)
	if err != nil || len(file.Agents) != 2 || agent.Check(file.Agents) != nil || file.Agents["mine"].Mode != "ask" {
		t.Errorf("%v: %+v", err, file)
	}
	for _, name := range agent.Names(false) {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("the page lacks %s", name)
		}
	}
}
