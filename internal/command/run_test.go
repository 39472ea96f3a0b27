//go:build linux

package command_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

func TestRunHasWhatTheProgramSays(t *testing.T) {
	s := run(t, command.Command{Command: shell(`echo one; echo two >&2; printf 'three\n'; printf 'half' >&2`)}, "")
	if s.Status != messages.Completed || output(s) != "one\nthree\n" {
		t.Fatalf("%s with %q and %v", s.Status, output(s), s.End.Error)
	}
	if want := []string{"two", "half"}; !slices.Equal(lines(s), want) {
		t.Errorf("the log has %q, not %q", lines(s), want)
	}
	var r command.Result
	if err := json.Unmarshal(s.End.Result, &r); err != nil || r != (command.Result{Text: "one\nthree\n", Bytes: 10}) {
		t.Errorf("the result is %s", s.End.Result)
	}
}

// With output: one, both are one text in the order in which the program wrote them, and a failure names its last line.
func TestOneOutput(t *testing.T) {
	script := shell(`i=0; while [ $i -lt 20 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done; exit 3`)
	s := run(t, command.Command{Command: script, Output: command.OneOutput}, "")
	var want strings.Builder
	for i := range 20 {
		fmt.Fprintf(&want, "out %d\nerr %[1]d\n", i)
	}
	if output(s) != want.String() || len(lines(s)) > 0 || len(s.Streams) != 1 {
		t.Errorf("%q, and the log %q", output(s), lines(s))
	}
	if said := s.End.Error.Message; !strings.HasSuffix(said, "exited with 3: err 19") {
		t.Error(said)
	}
	for _, wrong := range []command.Command{{TTY: true, Output: "two"}, {TTY: true, Stderr: command.KeepStderr}, {Output: command.OneOutput, Stderr: command.KeepStderr}} {
		wrong.Name, wrong.Command = "it", script
		if _, err := command.Define(wrong, command.Config{}); err == nil {
			t.Errorf("taken: %+v", wrong)
		}
	}
}

func TestEndOfAProgramHasACode(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		code    messages.Code
		says    string
	}{
		"exit":           {shell(`printf '\033[1;31mbroken\033[0m\n' >&2; exit 3`), "exit", "exited with 3: broken"},
		"not found":      {[]string{"no-such-program"}, "not_found", "there is no program no-such-program"},
		"not found path": {[]string{"/no/such/program"}, "not_found", "there is no program"},
		"a folder":       {[]string{"/tmp"}, "not_executable", "cannot be run"},
		"a text":         {[]string{"/etc/passwd"}, "not_executable", "cannot be run"},
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t, command.Command{Command: c.command}, "")
			if s.Status != messages.Failed || s.End.Cause != messages.CauseError || codeOf(s) != c.code || !strings.Contains(s.End.Error.Message, c.says) {
				t.Errorf("%s, cause %s, code %s: %v", s.Status, s.End.Cause, codeOf(s), s.End.Error)
			}
		})
	}
}

// The operator's limits hold whatever the caller asks for.
func TestLimitsAreTheOperators(t *testing.T) {
	for name, c := range map[string]struct {
		command command.Command
		cause   messages.Code
	}{
		"too long": {command.Command{Command: shell("while :; do echo x; sleep 0.01; done"), Timeout: limit(300)}, messages.CauseDeadline},
		"silent":   {command.Command{Command: shell("echo x; sleep 1000"), Idle: limit(300)}, messages.CauseStalled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, c.command, command.Config{})
			id, err := n.system.Submit(t.Context(), messages.Request{Job: "it", Limits: messages.Limits{WallClockMS: 3_600_000, StallMS: 3_600_000}})
			must(t, err)
			if s := n.follow(id, nil); s.End.Cause != c.cause {
				t.Errorf("%s, cause %s: %v", s.Status, s.End.Cause, s.End.Error)
			}
		})
	}
}

func limit(ms int) schedule.Duration {
	return schedule.Duration(ms) * schedule.Duration(time.Millisecond)
}

func TestProgramHasItsOwnVariables(t *testing.T) {
	secrets := new(redact.Secrets)
	secrets.Add("token", "ghp_0123456789abcdef")
	n := start(t, command.Command{Command: shell(`echo "$A$B$C"; echo "$TOKEN"; echo "x$TOKEN-y" >&2; echo '{"type":"text","name":"t","text":"'$TOKEN'"}' >&3`),
		Env: []string{"PATH", "A", "C=3", "TOKEN"}}, command.Config{Secrets: secrets,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "A=1", "B=2", "TOKEN=ghp_0123456789abcdef"}})
	s := n.follow(n.submit(""), nil)
	if s.Status != messages.Completed || output(s) != "13\n[token]\n[token]" && output(s) != "[token]13\n[token]\n" {
		t.Errorf("%s with %q", s.Status, output(s))
	}
	if all := lines(s); len(all) != 1 || all[0] != "x[token]-y" || strings.Contains(string(s.End.Result), "ghp_") {
		t.Errorf("the log is %q, the result %s", all, s.End.Result)
	}
}

func TestArtifactsAreBelowTheFolder(t *testing.T) {
	dir, out, outside := t.TempDir(), t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o600), os.Symlink(outside, filepath.Join(dir, "away")),
		os.Mkdir(filepath.Join(dir, "report"), 0o700)); err != nil {
		t.Fatal(err)
	}
	config := command.Config{Folder: func(string) (string, error) { return out, nil }}
	c := command.Command{Command: shell("echo a >report/a.html; echo x >report/.b.html; echo b >report/b.txt; mkdir report/c.html"), Dir: dir,
		Artifacts: []string{"report/*.html", "none/*", "away/*.txt"}}
	n := start(t, c, config)
	s := n.follow(n.submit(""), nil)
	if s.Status == messages.Completed && len(s.Artifacts) == 1 {
		text, err := os.ReadFile(filepath.Join(out, s.Artifacts[0].Path))
		if err != nil || string(text) != "a\n" || s.Artifacts[0].SHA256 != messages.Digest("a\n") {
			t.Errorf("%+v holds %q: %v", s.Artifacts[0], text, err)
		}
	} else {
		t.Errorf("%s with %+v: %v", s.Status, s.Artifacts, s.End.Error)
	}
	for _, path := range []string{"../x", "/etc/passwd", "away/secret.txt"} {
		n := start(t, command.Command{Command: shell(`echo '{"type":"artifact","path":"` + path + `"}' >&3`), Dir: dir}, config)
		if s := n.follow(n.submit(""), nil); s.Status != messages.Failed || len(s.Artifacts) != 0 {
			t.Errorf("%s: %s with %v", path, s.Status, s.Artifacts)
		}
	}
}

func TestRetryIsForItsCodes(t *testing.T) {
	for code, attempts := range map[int]int{75: 2, 1: 1} {
		c := command.Command{Command: shell(fmt.Sprintf(`echo "$LASTWORD_ATTEMPT"; [ "$LASTWORD_ATTEMPT" = 2 ] || exit %d`, code)),
			Retry: command.Retry{Times: 1, On: []int{75}}}
		s := run(t, c, "")
		if task, _ := s.Task("it"); task.Attempt != attempts || output(s) != fmt.Sprintln(attempts) || (s.Status == messages.Completed) != (attempts == 2) {
			t.Errorf("after %d: %s in attempt %d with %q", code, s.Status, task.Attempt, output(s))
		}
	}
}

// A person says whether the program starts. In the question a value looks like no other sentence, and hides nothing.
func TestConfirmShowsValues(t *testing.T) {
	for answer, want := range map[string]messages.Status{"true": messages.Completed, "false": messages.Failed} {
		n := start(t, command.Command{Command: []string{"echo", "{a}"}, Confirm: "Run {a}?",
			Input: map[string]json.RawMessage{"a": json.RawMessage(`{"type":"string"}`)}}, command.Config{})
		id := n.submit(`{"a":"tests\nagreed\u202e"}`)
		s := n.follow(id, func(_ messages.State, e messages.Event) {
			if q, ok := e.Body.(messages.InputRequired); ok {
				if q.Prompt != `Run tests\nagreed\u202e?` || q.InputKind != messages.InputConfirmation {
					t.Errorf("the question is %+v", q)
				}
				if err := n.system.Answer(t.Context(), id, q.Request, json.RawMessage(answer), ""); err != nil {
					t.Error(err)
				}
			}
		})
		if s.Status != want || (output(s) != "") != (want == messages.Completed) {
			t.Errorf("after %s: %s with %q", answer, s.Status, output(s))
		}
	}
}

func TestResultIsAsTheOperatorSays(t *testing.T) {
	for name, c := range map[string]struct {
		command command.Command
		want    string // "" is a failure with invalid_output
	}{
		"last line":  {command.Command{Command: shell(`echo working; echo '{"n": 1}'; echo`), Result: "json"}, `{"n":1}`},
		"file":       {command.Command{Command: shell(`echo '[2]' >"$LASTWORD_RESULT"; echo 3`), Result: "json"}, `[2]`},
		"channel":    {command.Command{Command: shell(`echo '{"type":"result","result":4}' >&3; echo 5`), Result: "json"}, `4`},
		"no json":    {command.Command{Command: shell(`echo done`), Result: "json"}, ""},
		"none":       {command.Command{Command: shell(`echo done`), Result: "none"}, `{"exit_code":0,"bytes":5}`},
		"text":       {command.Command{Command: shell(`echo done`), Result: "text"}, `{"exit_code":0,"text":"done\n","bytes":5}`},
		"end of all": {command.Command{Command: shell(`head -c 70000 /dev/zero | tr '\0' x`)}, `{"exit_code":0,"text":"` + strings.Repeat("x", 64<<10) + `","bytes":70000}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t, c.command, "")
			if c.want == "" && s.End.Cause != messages.CauseInvalidOutput || string(s.End.Result) != c.want {
				t.Errorf("%s, cause %s: %s", s.Status, s.End.Cause, s.End.Result)
			}
		})
	}
}

// Stderr that is kept is a text with all lines, divided as stdout is.
func TestStderrIsKeptAsAText(t *testing.T) {
	const all = 588_895 + len("out\n")
	for keep, want := range map[string]int{"": len("out\n"), command.KeepStderr: all} {
		s := run(t, command.Command{Command: shell("seq 100000 >&2; echo out"), Stderr: keep, Result: "none"}, "{}")
		if text := output(s); len(text) != want || !strings.Contains(text, "out\n") {
			t.Errorf("%q: the run keeps %d bytes instead of %d", keep, len(text), want)
		}
	}
}
