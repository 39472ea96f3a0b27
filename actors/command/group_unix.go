//go:build unix

package command

import (
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"

	"github.com/creack/pty"
)

// hasDescriptors: a program may get more than three descriptors.
const hasDescriptors = true

// group is the process group that a program leads. It is safe for concurrent use.
type group struct {
	leader atomic.Int64
	ooms   int64
}

func (g *group) prepare(cmd *exec.Cmd, tty bool) {
	attributes := &syscall.SysProcAttr{Setpgid: !tty, Setsid: tty, Setctty: tty}
	endWithUs(attributes)
	cmd.SysProcAttr = attributes
	g.ooms = outOfMemory()
}

func (g *group) started(cmd *exec.Cmd) error {
	g.leader.Store(int64(cmd.Process.Pid))
	return nil
}

func (g *group) signal(s syscall.Signal) {
	if leader := g.leader.Load(); leader > 0 {
		_ = syscall.Kill(-int(leader), s) // the group may be empty
	}
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

// end kills the rest of the group when its leader has ended. It reaps those that became our children, which happens
// if this is the first process of a container. Later signals have no effect.
func (g *group) end() {
	g.kill()
	leader := int(g.leader.Swap(0))
	for leader > 0 {
		if pid, err := syscall.Wait4(-leader, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			return
		}
	}
}

func (g *group) release() {}

// ranOutOfMemory reports whether the system killed the program for lack of memory.
func (g *group) ranOutOfMemory(s os.Signal) bool {
	return s == syscall.SIGKILL && outOfMemory() > g.ooms
}

func signalOf(state *os.ProcessState) os.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return nil
}

// openTerminal opens a pseudo-terminal, and returns our end and the program's end.
func openTerminal() (ours, theirs *os.File, err error) {
	if ours, theirs, err = pty.Open(); err == nil {
		_ = pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: 80})
	}
	return ours, theirs, err
}

// drain reads what the pipe holds now, without waiting.
func drain(f *os.File, buffer []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), buffer)
		return true
	})
	if failed != nil {
		return 0, failed
	}
	return max(n, 0), err
}
