//go:build linux

package command_test

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
)

// gone reports whether the process runs no more. Whether somebody has reaped it is the affair of its new parent.
func gone(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// until waits for what another process does.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			t.Fatal("never: " + what)
		}
		time.Sleep(time.Millisecond) // of the system's own processes nobody else tells
	}
}

// canceled cancels a run once it has said a line, and returns the line and how the run ended.
func canceled(t *testing.T, c command.Command) (line string, s messages.State) {
	t.Helper()
	n := start(t, c, command.Config{})
	id, asked := n.submit(""), false
	s = n.follow(id, func(s messages.State, _ messages.Event) {
		if text := output(s); strings.HasSuffix(text, "\n") && !asked {
			asked, line = true, strings.TrimSpace(text)
			if err := n.system.Cancel(t.Context(), id, "enough", ""); err != nil {
				t.Error(err)
			}
		}
	})
	return line, s
}

func TestCancelEndsTheGroup(t *testing.T) {
	for name, script := range map[string]string{
		"a child":            `sleep 1000 & echo $!; wait`,
		"that ignores TERM":  `trap '' TERM; sleep 1000 & echo $!; wait; wait`,
		"that left stdout":   `sleep 1000 >/dev/null 2>&1 3>&- & echo $!; exec >&- 2>&-; wait`,
		"that stops itself":  `sleep 1000 & echo $!; kill -STOP $$`,
		"that starts others": `(while :; do sleep 0.01 & wait; done) & echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child, s := canceled(t, command.Command{Command: shell(script)})
			if s.Status != messages.Canceled {
				t.Errorf("the run is %s, not canceled", s.Status)
			}
			until(t, "the child's end", func() bool { return gone(child) })
		})
	}
}

func TestEndOfTheProgramEndsWhatItStarted(t *testing.T) {
	t.Parallel()
	s := run(t, command.Command{Command: shell(`sleep 1000 & echo $!`)}, "")
	if s.Status != messages.Completed {
		t.Fatalf("%s: %v", s.Status, s.End.Error)
	}
	until(t, "the child's end", func() bool { return gone(strings.TrimSpace(output(s))) })
}

// A process that has left the group is not ours to end, and does not hold the run. What was written before is there.
func TestPipeThatIsHeldDoesNotHoldTheRun(t *testing.T) {
	t.Parallel()
	leads := filepath.Join(t.TempDir(), "leads") // a session: nothing that ends the program's own ends the holder
	s := run(t, command.Command{Command: shell(`setsid sh -c ': > "$0"; exec sleep 1000' ` + leads + ` & echo $!; until [ -e ` + leads + ` ]; do sleep 0.01; done; head -c 60000 /dev/zero | tr '\0' x; echo; echo last >&2`)}, "")
	pid, rest, _ := strings.Cut(output(s), "\n")
	defer func() {
		var holder int
		fmt.Sscan(pid, &holder)
		syscall.Kill(holder, syscall.SIGKILL)
	}()
	if s.Status != messages.Completed || len(rest) != 60001 || len(lines(s)) != 1 || gone(pid) {
		t.Errorf("%s with %d bytes and %q; the holder is gone: %t", s.Status, len(rest), lines(s), gone(pid))
	}
}

func TestSignalIsNamed(t *testing.T) {
	for sig := syscall.Signal(1); sig < 32; sig++ {
		switch sig {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH:
			continue // they end nobody
		}
		if signal.Ignored(sig) {
			continue // as by nohup: programs inherit that
		}
		code := 0
		n := start(t, command.Command{Command: shell(fmt.Sprintf("ulimit -c 0; echo before; kill -%d $$", sig))},
			command.Config{Exited: func(c int) { code = c }})
		s := n.follow(n.submit(""), nil)
		if codeOf(s) != "signal" || output(s) != "before\n" || code != 128+int(sig) {
			t.Errorf("signal %d: code %s, %q, exit code %d: %v", sig, codeOf(s), output(s), code, s.End.Error)
		}
	}
}

func TestAnyBytesBecomeText(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"half a character":  {`printf '\303'; sleep 0.05; printf '\244|'; printf '\342\202'`, "ä|\uFFFD"},
		"no text at all":    {`printf '\377\376a\000b\200'`, "\uFFFDa\x00b\uFFFD"},
		"no end of a line":  {`printf 'half'`, "half"},
		"an escape":         {`printf '\033[31mred\033[2J'`, "\033[31mred\033[2J"},
		"nothing":           {`:`, ""},
		"a closed stdout":   {`echo a; exec >&-; echo b >&2`, "a\n"},
		"a broken last one": {`printf 'a\342\202b'`, "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, command.Command{Command: shell(c.script)}, "")
			if s.Status != messages.Completed || output(s) != c.want {
				t.Errorf("%s with %q, not %q", s.Status, output(s), c.want)
			}
		})
	}
}

func TestTerminalIsAProgramsOwn(t *testing.T) {
	s := run(t, command.Command{Command: shell(`test -t 0 && test -t 1 && test -t 2 && echo yes; echo no >&2`), TTY: true}, "")
	if s.Status != messages.Completed || output(s) != "yes\r\nno\r\n" {
		t.Errorf("%s with %q: %v", s.Status, output(s), s.End.Error)
	}
}
