package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

func failedWith(cause messages.Cause) messages.State {
	return messages.State{Status: messages.Failed, End: &messages.End{Cause: cause}}
}

func TestExitOfEveryCause(t *testing.T) {
	want := map[messages.Cause]int{
		messages.CauseError: 1, messages.CausePanic: 1, messages.CauseStalled: 1, messages.CauseShutdown: 1,
		messages.CauseNodeLost: 1, messages.CauseJournalUnavailable: 1, messages.CauseInjected: 1, messages.CauseCanceledByUser: 1,
		messages.CauseInvalidInput:  3,
		messages.CauseProviderError: 4, messages.CauseTransportClosed: 4, messages.CauseEmptyCompletion: 4,
		messages.CauseInvalidOutput: 4,
		messages.CauseLimitExceeded: 5,
		messages.CauseDeadline:      124,
	}
	for _, cause := range messages.Causes() {
		code, known := want[cause]
		if got := exitOf(failedWith(cause), nil); !known || got != code {
			t.Errorf("%s: exit code %d, want %d (known: %t)", cause, got, code, known)
		}
	}
}

func TestExitOfASignal(t *testing.T) {
	completed, canceled := messages.State{Status: messages.Completed}, messages.State{Status: messages.Canceled}
	for _, c := range []struct {
		state messages.State
		by    os.Signal
		want  int
	}{
		{completed, nil, 0},
		{canceled, nil, 130},
		{canceled, os.Interrupt, 130},
		{canceled, syscall.SIGTERM, 143},
		{completed, os.Interrupt, 130}, // it came too late to cancel anything, but it came
		{messages.State{Status: messages.Processing}, nil, 1},
	} {
		if got := exitOf(c.state, c.by); got != c.want {
			t.Errorf("%s, %v: exit code %d, want %d", c.state.Status, c.by, got, c.want)
		}
	}
}

// What a server says of its failure does not steer the terminal.
func TestReportIsHarmless(t *testing.T) {
	var stderr strings.Builder
	code := report(&stderr, provider("\x1b[2Jno\u009b31m\u202e\r such\x07 model\nload one"))
	if want := "lastword: [2Jno31m such model\nload one\n"; code != exitProvider || stderr.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr.String(), want)
	}
}

func TestReadmeNamesEveryFlagAndCode(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	root := rootCommand(actors.Config{})
	for _, k := range keysOf(root) {
		want = append(want, "\n| `--"+k.flag.Name)
	}
	for _, cmd := range root.Commands() {
		want = append(want, "\n| `lastword "+cmd.Name())
	}
	for _, code := range []int{exitCompleted, exitFailed, exitUsage, exitConfiguration, exitProvider, exitLimit,
		exitStale, exitTimeout, exitInterrupted, exitTerminated} {
		want = append(want, fmt.Sprintf("\n| %d |", code))
	}
	if len(want) < 20 {
		t.Errorf("only %d rows: %q", len(want), want)
	}
	for _, row := range want {
		if !strings.Contains(string(data), row) {
			t.Errorf("no row of a table in the README begins with %q", row[1:])
		}
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{&exitError{code: 124}, 124, ""},
		{&exitError{exitConfiguration, errors.New("no journal")}, 3, "lastword: no journal\n"},
		{messages.Errorf(messages.Code(messages.CauseInvalidInput), "no such folder"), 2, "lastword: no such folder\n"},
		{messages.Errorf(messages.Code(messages.CauseLimitExceeded), "too many runs"), 5, "lastword: too many runs\n"},
		{errors.New("what"), 1, "lastword: what\n"},
	} {
		var says strings.Builder
		if code := report(&says, c.err); code != c.code || says.String() != c.says {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, says.String(), c.code, c.says)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("a\x1b[31mb\tc\nd\u202ee"); got != "a[31mb\tcde" {
		t.Errorf("printable text %q", got)
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 4_200_000: "4.2 MB",
	} {
		if got := size(bytes); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
}

func TestPrintableIsVisible(t *testing.T) {
	const hidden = "\u200b\u200e\u202e\u2060\u2066\ufeff\u00ad\u3164\u115f\u034f\ufe0f\U000e0041\U000e0100\u0085\u009b"
	if got := printable("a" + hidden + "\tb"); got != "a\tb" {
		t.Errorf("%q is left of what nobody sees", got)
	}
}
