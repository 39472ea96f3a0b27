//go:build unix

package command

import (
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"

	"github.com/creack/pty"
)

// hasDescriptors: a program may have more than three.
const hasDescriptors = true

// group is the process group that a program leads.
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
		_ = syscall.Kill(-int(leader), s) // it may be empty
	}
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

// end ends what is left of the group when its leader has ended, and reaps those of it that are our children, because
// this is the first process of a container. Later signals go to nobody.
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

// ranOutOfMemory reports whether the system ended the program for want of memory.
func (g *group) ranOutOfMemory(s os.Signal) bool {
	return s == syscall.SIGKILL && outOfMemory() > g.ooms
}

func signalOf(state *os.ProcessState) os.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return nil
}

// openTerminal opens a pseudo-terminal: our end, and that of the program.
func openTerminal() (ours, theirs *os.File, err error) {
	if ours, theirs, err = pty.Open(); err == nil {
		_ = pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: 80})
	}
	return ours, theirs, err
}

// drain reads what is in the pipe now.
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
