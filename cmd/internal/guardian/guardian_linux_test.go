package guardian

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
)

// lives reports whether the process runs.
func lives(pid int) bool {
	s := statOf(pid)
	return s != nil && s.state != "Z"
}

func begin(t *testing.T, folder string) *Guardian {
	t.Helper()
	g, err := New(t.Context(), folder, nil)
	if err != nil || g == nil {
		t.Fatal(g, err)
	}
	t.Cleanup(g.Close)
	return g
}

// started starts a shell that leaves a process in its own session, which ignores all that it may. The shell ends
// when its stdin does.
func started(t *testing.T, g *Guardian, o Options) (p *Process, daemon int, stdin io.Closer) {
	t.Helper()
	in, write, err := os.Pipe()
	read, out, err2 := os.Pipe()
	err = errors.Join(err, err2)
	must(t, err)
	cmd := exec.Command("sh", "-c", `(env -u LASTWORD_GUARD setsid sh -c 'trap "" TERM HUP INT; echo $$; exec sleep 1000 <&- >&-' &); read x; exit 7`)
	cmd.Stdin, cmd.Stdout = in, out
	p, err = g.Start(cmd, o)
	must(t, err)
	in.Close()
	out.Close()
	t.Cleanup(func() { write.Close(); read.Close() })
	line, err := bufio.NewReader(read).ReadString('\n')
	if daemon, _ = strconv.Atoi(strings.TrimSpace(line)); err != nil || !lives(daemon) || !strings.Contains(markedBy(daemon), g.mark) {
		t.Fatalf("the daemon said %q: %v; its marks are %q", line, err, markedBy(daemon))
	}
	return p, daemon, write
}

func TestAllEnds(t *testing.T) {
	silence = time.Second
	defer func() { silence = 8 * time.Second }()
	killed := syscall.WaitStatus(syscall.SIGKILL)
	for name, c := range map[string]struct {
		end  func(*Guardian, *Process, io.Closer)
		want syscall.WaitStatus
	}{
		"the program ends":  {func(_ *Guardian, _ *Process, in io.Closer) { in.Close() }, 7 << 8},
		"it is killed":      {func(_ *Guardian, p *Process, _ io.Closer) { p.Kill() }, killed},
		"the owner ends":    {func(g *Guardian, _ *Process, _ io.Closer) { g.Close() }, killed},
		"the owner freezes": {func(g *Guardian, _ *Process, _ io.Closer) { g.Beat() }, killed},
	} {
		t.Run(name, func(t *testing.T) {
			g := begin(t, "")
			p, daemon, in := started(t, g, Options{})
			c.end(g, p, in)
			if status, left := p.Wait(), p.End(); status != c.want || len(left) > 0 || lives(daemon) {
				t.Errorf("status %d, left %v, the daemon lives: %t", status, left, lives(daemon))
			}
		})
	}
}

// A guardian that is killed takes the programs with it, and what has their mark. The next program gets another one, which ends
// it without beats, too.
func TestKilledGuardian(t *testing.T) {
	silence = time.Second
	defer func() { silence = 8 * time.Second }()
	g := begin(t, "")
	g.Beat()
	cmd := exec.Command("sh", "-c", "setsid sleep 1000 & wait")
	p, err := g.Start(cmd, Options{})
	must(t, err)
	for _, pid := range childrenOf(os.Getpid()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if status := p.Wait(); !status.Signaled() || p.End() != nil {
		t.Errorf("the program ended with %d", status)
	}
	again, _, in := started(t, g, Options{})
	defer in.Close()
	if status, left := again.Wait(), again.End(); !status.Signaled() || len(left) > 0 {
		t.Errorf("the next one ended with %d, left %v", status, left)
	}
}

// A guardian that began early is taken by the first who needs one.
func TestEarlyGuardianIsTaken(t *testing.T) {
	c, err := fork(nil)
	must(t, err)
	early.Store(c)
	for _, first := range []bool{true, false} {
		if g := begin(t, ""); (g.conn == c.conn) != first {
			t.Errorf("first %t: another guardian is taken", first)
		}
	}
}

func TestKeptChildrenLive(t *testing.T) {
	g := begin(t, "")
	p, daemon, in := started(t, g, Options{Keep: true})
	in.Close()
	p.Wait()
	left := p.End()
	g.Close()
	if !slices.Contains(left, daemon) || !lives(daemon) {
		t.Errorf("left are %v, not %d, which lives: %t", left, daemon, lives(daemon))
	}
	_ = syscall.Kill(daemon, syscall.SIGKILL)
}

func TestGroupOfAProgram(t *testing.T) {
	g := begin(t, "")
	for _, foreground := range []bool{false, true} {
		p, _, in := started(t, g, Options{Foreground: foreground})
		if s := statOf(p.pid); (s.group == syscall.Getpgrp()) != foreground {
			t.Errorf("foreground %t: the group is %d", foreground, s.group)
		}
		in.Close()
		p.Wait()
		p.End()
	}
}

// A program that has a guardian itself, and is killed, leaves that guardian's groups within its own.
func TestGroupsWithinAGroup(t *testing.T) {
	g := begin(t, "")
	p, _, in := started(t, g, Options{})
	var groups cgroups
	groups.find("*")
	lists, _ := filepath.Glob(filepath.Join(groups.dir, "*", "cgroup.procs"))
	i := slices.IndexFunc(lists, func(list string) bool {
		pids, _ := os.ReadFile(list)
		return slices.Contains(strings.Fields(string(pids)), strconv.Itoa(p.pid))
	})
	if i < 0 {
		t.Skip("programs have no groups here")
	}
	group := filepath.Dir(lists[i])
	must(t, os.MkdirAll(filepath.Join(group, "lastword-INNER", "1"), 0o755))
	in.Close()
	p.Wait()
	if left := p.End(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if _, err := os.Stat(group); err == nil {
		t.Errorf("the group %s is still there", group)
	}
}

// Anyone who opens the folder next waits until nothing lives.
func TestNextOwnerWaits(t *testing.T) {
	folder := t.TempDir()
	g := begin(t, folder)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := New(ctx, folder, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("beside another guardian: %v", err)
	}
	_, daemon, _ := started(t, g, Options{})
	g.sending.Lock()
	g.mu.Lock()
	conn := g.conn
	g.mu.Unlock()
	_ = syscall.Shutdown(int(conn.Fd()), syscall.SHUT_WR)
	g.sending.Unlock()
	g.lock.Close() // as if this process had ended
	if begin(t, folder); lives(daemon) {
		t.Error("the next owner began while the daemon lived")
	}
}

var must = fatal.IfError
