//go:build linux

package command_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/command"
	"github.com/seed889630bf/lastword/actors/schedule"
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

func TestEndOfAProgramHasACode(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		code    messages.Code
		says    string
	}{
		"exit":           {shell("echo broken >&2; exit 3"), command.CodeExit, "exited with 3: broken"},
		"not found":      {[]string{"no-such-program"}, command.CodeNotFound, "there is no program no-such-program"},
		"not found path": {[]string{"/no/such/program"}, command.CodeNotFound, "there is no program"},
		"a folder":       {[]string{"/tmp"}, command.CodeNotExecutable, "cannot be run"},
		"a text":         {[]string{"/etc/passwd"}, command.CodeNotExecutable, "cannot be run"},
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
			if err != nil {
				t.Fatal(err)
			}
			if s := n.follow(id, nil); s.End.Cause != c.cause {
				t.Errorf("%s, cause %s: %v", s.Status, s.End.Cause, s.End.Error)
			}
		})
	}
}

func limit(ms int) schedule.Duration {
	return schedule.Duration(ms) * schedule.Duration(time.Millisecond)
}
