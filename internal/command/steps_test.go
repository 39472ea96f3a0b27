//go:build linux

package command_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
)

// mortal starts programs, and kills the first one at a line of descriptor 3: before or after the line arrives.
type mortal struct {
	line  int // 0: never
	after bool
	mu    sync.Mutex
	begun int
	lines int // of the first program
}

type process struct{ *exec.Cmd }

func (p process) signal(s syscall.Signal) { _ = syscall.Kill(-p.Process.Pid, s) }
func (p process) Terminate()              { p.signal(syscall.SIGTERM) }
func (p process) Kill()                   { p.signal(syscall.SIGKILL) }
func (p process) End() []int              { p.Kill(); return nil }
func (p process) Wait() syscall.WaitStatus {
	_ = p.Cmd.Wait()
	return p.ProcessState.Sys().(syscall.WaitStatus)
}

func (m *mortal) start(cmd *exec.Cmd, _, _ bool) (command.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := process{cmd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if m.begun++; m.begun > 1 {
		return p, cmd.Start()
	}
	fd, err := syscall.Dup(int(cmd.ExtraFiles[0].Fd()))
	if err != nil {
		return nil, err
	}
	real := os.NewFile(uintptr(fd), "descriptor 3")
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.ExtraFiles[0] = theirs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer real.Close()
		defer ours.Close()
		for lines := bufio.NewScanner(ours); lines.Scan(); {
			m.lines++
			if m.lines == m.line && !m.after {
				p.Kill()
			}
			fmt.Fprintln(real, lines.Text())
			if m.lines == m.line && m.after {
				p.Kill()
			}
		}
	}()
	return p, nil
}

// The page's programs are killed before and after each of their lines. They finish, and no step is kept twice; an effect
// whose step was not kept may be repeated, under the same key.
func TestDocumentedProgramsKeepTheirSteps(t *testing.T) {
	files := documented(t)
	for name, with := range map[string]string{"pay.sh": "sh", "pay.py": "python3", "pay.mjs": "node"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(with); err != nil {
				t.Skip("there is no " + with)
			}
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600))
			for at := range 21 {
				if testing.Short() && at%5 != 0 {
					continue
				}
				m := &mortal{line: (at + 1) / 2, after: at%2 == 0}
				charges := filepath.Join(t.TempDir(), "charges")
				n := start(t, command.Command{Command: []string{with, name}, Dir: dir, Env: []string{"PATH", "HOME", "CHARGES=" + charges}, Retry: command.Retry{Times: 1}},
					command.Config{Start: m.start})
				kept := map[string]int{}
				s := n.follow(n.submit(""), func(_ messages.State, e messages.Event) {
					if k, ok := e.Body.(messages.StepKept); ok && !k.Begun {
						kept[k.Step]++
					}
				})
				text, _ := os.ReadFile(charges)
				done := strings.Fields(string(text))
				once := slices.Compact(slices.Clone(done))
				if s.Status != messages.Completed || len(kept) != 5 || len(once) != 5 || len(done) > 6 {
					t.Errorf("killed at line %d, after it %t: %s, kept %v, done %q: %v", m.line, m.after, s.Status, kept, done, s.End.Error)
				}
				for step, times := range kept {
					if times != 1 {
						t.Errorf("killed at line %d: the step %s is kept %d times", m.line, step, times)
					}
				}
				if at == 0 && m.lines != 10 {
					t.Errorf("the program says %d lines", m.lines)
				}
			}
		})
	}
}

var must = fatal.IfError

// talk is a program that writes each line, and prints the answer to it. An empty line ends the attempt with an error.
func talk(lines ...string) []string {
	script := `for line; do [ -n "$line" ] || exit 1; echo "$line" >&3; case $line in *'"seen"'*) ;; *) read -r a <&4; echo "$a";; esac; done`
	return append([]string{"sh", "-c", script, "sh"}, lines...)
}

// What a program hears on descriptor 4, line by line.
func TestStepsAnswer(t *testing.T) {
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	for name, c := range fatal.Table[map[string]struct{ Lines, Want []string }](t, "testdata/steps.json") {
		t.Run(name, func(t *testing.T) {
			n := start(t, command.Command{Command: talk(c.Lines...)}, command.Config{})
			id := n.submit("")
			s := n.follow(id, nil)
			got := strings.Split(strings.TrimSuffix(strings.ReplaceAll(output(s), string(id), "RUN"), "\n"), "\n")
			if s.Status != messages.Completed || !slices.EqualFunc(got, c.Want, strings.HasPrefix) {
				t.Errorf("%s: it hears %q instead of %q", s.Status, got, c.Want)
			}
		})
	}
	s := run(t, command.Command{Command: shell(`printf '{"type":"step","name":"caf\351"}\n{"type":"step","name":"a"}\n' >&3; read a <&4; echo "$a"; read a <&4
for n in 1048575 5000000; do { printf '{"type":"keep","name":"a","value":"'; head -c $n /dev/zero | tr '\0' x; echo '"}'; } >&3; read b <&4; echo "$b"; done
printf '{"type":"keep","name":"a","value":2' >&3`)}, "")
	if got := output(s); s.Status != messages.Completed || !strings.Contains(got, "is UTF-8") || strings.Count(got, `"error":"limit_exceeded"`) != 2 || len(s.Kept) != 1 || s.Kept[0].Result != nil {
		t.Errorf("%s after values of more than %d bytes, and half a line: %q, and %+v is kept", s.Status, len(big), got, s.Kept)
	}
}

// The next attempt gets what was kept, an error too, and of a step with once that nobody knows how it ended.
func TestNextAttemptHearsWhatIsKept(t *testing.T) {
	first := talk(`{"type":"step","name":"a"}`, `{"type":"keep","name":"a","value":1}`, `{"type":"step","name":"b"}`, `{"type":"keep","name":"b","error":"declined"}`,
		`{"type":"step","name":"e","input":1}`, `{"type":"keep","name":"e","value":1}`, `{"type":"step","name":"c","once":true}`, "")
	second := talk(`{"type":"step","name":"a"}`, `{"type":"step","name":"b"}`, `{"type":"step","name":"c","once":true}`, `{"type":"step","name":"d"}`, `{"type":"step","name":"e","input":2}`)
	both := fmt.Sprintf("if [ $LASTWORD_ATTEMPT = 1 ]; then sh -c '%s' sh %s; else sh -c '%[1]s' sh %[3]s; fi", strings.ReplaceAll(first[2], "'", `'\''`), quoted(first[4:]), quoted(second[4:]))
	n := start(t, command.Command{Command: shell(both), Retry: command.Retry{Times: 1}}, command.Config{})
	id := n.submit("")
	s := n.follow(id, nil)
	want := []string{`{"type":"step","name":"a","kept":1}`, `{"type":"step","name":"b","error":"declined"}`, `{"type":"step","name":"c","error":"unknown",`,
		fmt.Sprintf(`{"type":"step","name":"d","key":"%s/d"}`, id), `{"type":"step","name":"e","error":"invalid_output",`}
	if got := strings.Split(output(s), "\n"); s.Status != messages.Completed || len(got) != 6 || !slices.EqualFunc(got[:5], want, strings.HasPrefix) {
		t.Errorf("%s: it hears %q", s.Status, got)
	}
}

func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, " '%s'", w)
	}
	return b.String()
}

// A value with a secret comes back as it was, and no reader of the log sees the secret. The answer to a secret question
// is kept only if the program says so.
func TestKeptSecretsAreSealed(t *testing.T) {
	const token = "ghp_0123456789abcdef"
	secrets := new(redact.Secrets)
	secrets.Add("token", token)
	c := command.Command{Command: talk(`{"type":"step","name":"a"}`, `{"type":"keep","name":"a","value":{"t":"`+token+`"}}`, `{"type":"step","name":"a"}`,
		`{"type":"ask","name":"pin","prompt":"PIN?","kind":"secret","schema":{"type":"string"},"answers":4}`, `{"type":"step","name":"b"}`,
		`{"type":"keep","name":"b","value":"is 4711"}`, `{"type":"keep","name":"b","value":"is 4711","secret":true}`, `{"type":"step","name":"b"}`)}
	sealed := map[string][]byte{}
	n := start(t, c, command.Config{Secrets: secrets,
		Seal: func(value []byte) string {
			name := fmt.Sprint("s", len(sealed))
			sealed[name] = bytes.Clone(value)
			return name
		},
		Open: func(name string) ([]byte, bool) { value, ok := sealed[name]; return value, ok }})
	id := n.submit("")
	var log strings.Builder
	s := n.follow(id, func(_ messages.State, e messages.Event) {
		if q, ok := e.Body.(messages.InputRequired); ok {
			must(t, n.system.Answer(t.Context(), id, q.Request, json.RawMessage(`"4711"`), ""))
		}
		if _, output := e.Body.(messages.TextDelta); !output {
			text, _ := json.Marshal(e)
			log.Write(text)
		}
	})
	hears := strings.Split(output(s), "\n")
	if s.Status != messages.Completed || len(hears) != 9 || !strings.Contains(hears[2], `"kept":{"t":"[token]"}`) /* stdout is cleaned */ ||
		!strings.Contains(hears[5], `"error":"secret"`) || !strings.Contains(hears[7], `"kept":"is 4711"`) || string(sealed["s0"]) != `{"t":"`+token+`"}` {
		t.Errorf("%s: it hears %q, and sealed is %q", s.Status, hears, sealed)
	}
	if strings.Contains(log.String(), token) || !strings.Contains(log.String(), `"shown":{"t":"[token]"}`) || len(s.Kept) != 2 || strings.Contains(string(s.Kept[1].Result), "4711") {
		t.Errorf("the log keeps %s", log.String())
	}
}

// What a program says of its tools, its thoughts, its models and its messages is in the log.
func TestProgramReportsItsWork(t *testing.T) {
	n := start(t, command.Command{Messages: true, Command: shell(`say() { echo "$1" >&3; }
say '{"type":"thought","text":"hm"}'; say '{"type":"tool","call":"c1","name":"search","args":{"q":1}}'; say '{"type":"tool_end","call":"c1","result":2}'
say '{"type":"tool","call":"c2","name":"search"}'; say '{"type":"usage","model":"m","input":3,"output":4}'
say '{"type":"message"}'; read -r m <&4; case $m in *'"text":"left"'*) say '{"type":"seen","message":"m1"}';; esac
say '{"type":"message","wait":false}'; read -r m <&4; echo "$m"`)}, command.Config{})
	id := n.submit("")
	s := n.follow(id, func(_ messages.State, e messages.Event) {
		if _, ok := e.Body.(messages.UsageReported); ok {
			_, err := n.system.Send(t.Context(), id, messages.Said{Message: "m1", Content: "left"})
			must(t, err)
		}
	})
	thoughts, _ := s.Stream("thoughts")
	if s.Status != messages.Completed || thoughts.Text() != "hm" || s.Purse.Spent.Input != 3 || s.Purse.Spent.Output != 4 || output(s) != `hm{"type":"message"}`+"\n" {
		t.Errorf("%s with %q, %q, %+v", s.Status, thoughts.Text(), output(s), s.Purse)
	}
	if len(s.Calls) != 2 || slices.ContainsFunc(s.Calls, func(c messages.Call) bool { return !c.Ended }) || len(s.Messages) != 1 || s.Messages[0].At != "program" ||
		!slices.ContainsFunc(s.Kept, func(k messages.StepKept) bool { return k.Step == messages.SeenStep+"m1" }) {
		t.Errorf("the calls are %+v, the messages %+v, kept is %+v", s.Calls, s.Messages, s.Kept)
	}
	if s := run(t, command.Command{Budget: messages.Budget{Tokens: 5}, Command: shell(`echo '{"type":"usage","input":3,"output":4}' >&3; exec sleep 600`)}, ""); codeOf(s) != messages.CodeBudget {
		t.Errorf("it goes on with its budget spent: %s", s.Status)
	}
}

// A program starts jobs by name, and commands only if its own definition lists them.
func TestProgramStartsSubRuns(t *testing.T) {
	lines := func(job string) []string {
		return talk(`{"type":"child","name":"one","job":"`+job+`","input":{}}`, `{"type":"child","name":"one","job":"`+job+`","input":{}}`)
	}
	config := command.Config{Environ: os.Environ(), Guarded: func(q messages.Request) []string {
		return slices.DeleteFunc([]string{q.Job}, func(job string) bool { return job == "free" })
	}}
	jobs := []actors.Definition{actors.Func("free", func(_ context.Context, _ *actors.TaskContext, _ struct{}) (int, error) { return 7, nil })}
	for name, c := range map[string]command.Command{
		"frees": {Command: lines("free")}, "refused": {Command: lines("hello")}, "listed": {Command: lines("hello"), Starts: []string{"hello"}}, "hello": {Command: []string{"true"}, Result: "none"},
	} {
		c.Name, c.Env = name, []string{"PATH"}
		job, err := command.Define(c, config)
		must(t, err)
		jobs = append(jobs, job)
	}
	system := faultplan.Open(t, actors.Config{Jobs: jobs})
	for name, want := range map[string]string{"frees": `"result":7`, "refused": `"error":"forbidden"`, "listed": `"result":{`} {
		n := node{t, system, name}
		s := n.follow(n.submit(""), nil)
		if s.Status != messages.Completed || strings.Count(output(s), want) != 2 || (len(s.Children) == 1) != (name != "refused") {
			t.Errorf("%s: %s with %q and %d sub-runs", name, s.Status, output(s), len(s.Children))
		}
	}
}
