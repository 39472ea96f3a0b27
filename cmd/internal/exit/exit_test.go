package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

func failedWith(cause messages.Code) messages.State {
	return messages.State{Status: messages.Failed, End: &messages.End{Cause: cause}}
}

func TestExitOfEveryCause(t *testing.T) {
	want := map[messages.Code]int{
		messages.CauseError: 1, messages.CausePanic: 1, messages.CauseShutdown: 1,
		messages.CauseNodeLost: 1, messages.CauseJournalUnavailable: 1, messages.CauseInjected: 1, messages.CauseCanceledByUser: 1,
		messages.CauseInvalidInput:  3,
		messages.CauseProviderError: 4, messages.CauseTransportClosed: 4, messages.CauseEmptyCompletion: 4,
		messages.CauseInvalidOutput: 4, messages.CauseContextExceeded: 4, messages.CauseStalled: 4,
		messages.CauseLimitExceeded: 5,
		messages.CauseDeadline:      124,
	}
	for _, cause := range messages.Causes() {
		code, known := want[cause]
		if got := OfRun(failedWith(cause), nil); !known || got != code {
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
		if got := OfRun(c.state, c.by); got != c.want {
			t.Errorf("%s, %v: exit code %d, want %d", c.state.Status, c.by, got, c.want)
		}
	}
}

// What a server says of its failure does not steer the terminal.
func TestReportIsHarmless(t *testing.T) {
	var stderr strings.Builder
	code := Report(&stderr, messages.Errorf(messages.CauseProviderError, "\x1b[2Jno\u009b31m\u202e\r such\x07 model\nload one"))
	if want := "lastword: no such model\nload one\n"; code != Provider || stderr.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr.String(), want)
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, 0, ""},
		{&Error{Code: 124}, 124, ""},
		{errors.Join(errors.New("the disk is full"), errors.New("the disk is full")), 1, "lastword: the disk is full\n"},
		{&Error{Code: Configuration, Err: errors.New("no journal")}, 3, "lastword: no journal\n"},
		{messages.InvalidInput("no such folder"), 2, "lastword: no such folder\n"},
		{messages.Errorf(messages.CauseLimitExceeded, "too many runs"), 5, "lastword: too many runs\n"},
		{fmt.Errorf("plan.yaml %w", regular.ErrTooLarge), 5, "lastword: plan.yaml is larger than the limit\n"},
		{errors.New("what"), 1, "lastword: what\n"},
		{&Error{Code: Configuration, Err: &fs.PathError{Op: "open", Path: "b.tar", Err: fs.ErrNotExist}}, 3, "lastword: cannot open b.tar: file does not exist\n"},
	} {
		var says strings.Builder
		if code := Report(&says, c.err); code != c.code || says.String() != c.says {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.err, code, says.String(), c.code, c.says)
		}
	}
}
