package command

import (
	"os"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// "If the system had no room to start the program, the error is retryable. Arguments that are too long are refused."
func TestNoRoomToStart(t *testing.T) {
	for errno, code := range map[syscall.Errno]messages.Code{syscall.EMFILE: codeOutOfMemory, syscall.ENFILE: codeOutOfMemory,
		syscall.EAGAIN: codeOutOfMemory, syscall.E2BIG: messages.CauseInvalidInput} {
		r := &runner{Command: &Command{}, arguments: []string{"x"}}
		got := startError("x", "", &os.PathError{Op: "fork/exec", Path: "x", Err: errno})
		_ = r.exited(got, 0)
		if got.Code != code || got.Retryable != (code == codeOutOfMemory) {
			t.Errorf("%v: %+v", errno, got)
		}
	}
}
