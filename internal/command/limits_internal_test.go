package command

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/messages"
)

func TestLimitsStandStillWhilePeopleAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		timeout, idle time.Duration
		want          time.Duration // after the start
		cause         messages.Code
	}{
		"timeout": {10 * time.Second, 0, 10*time.Second + time.Hour, messages.CauseDeadline},
		"idle":    {0, 4 * time.Second, 3*time.Second + time.Hour + 4*time.Second, messages.CauseStalled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, ended, cause := time.Now(), time.Duration(0), messages.Code("")
				var l limits
				l.start("it", schedule.Duration(c.timeout), schedule.Duration(c.idle), func(err error) {
					ended, cause = time.Since(began), messages.CodeOf(err)
				})
				time.Sleep(3 * time.Second)
				first, second := l.ask(), l.ask()
				l.heard()
				time.Sleep(time.Minute)
				second()
				time.Sleep(59 * time.Minute)
				first()
				time.Sleep(time.Hour)
				synctest.Wait()
				if ended != c.want || cause != c.cause {
					t.Errorf("it ended with %q after %v, not %v", cause, ended, c.want)
				}
				l.end()
			})
		})
	}
}

func TestSilenceIsTheProgramsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l limits
		l.start("it", 0, schedule.Duration(time.Second), func(err error) { t.Error(err) })
		l.exited()
		l.heard()
		time.Sleep(time.Minute)
		l.end()
	})
}

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
