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
	cmd    *exec.Cmd
	leader atomic.Int64
}

// startGroup starts the program as the leader of a process group.
func startGroup(cmd *exec.Cmd, tty, _ bool) (Process, error) {
	attributes := &syscall.SysProcAttr{Setpgid: !tty, Setsid: tty, Setctty: tty}
	endWithUs(attributes)
	cmd.SysProcAttr = attributes
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd}
	g.leader.Store(int64(cmd.Process.Pid))
	return g, nil
}

func (g *group) signal(s syscall.Signal) {
	if leader := g.leader.Load(); leader > 0 {
		_ = syscall.Kill(-int(leader), s) // the group may be empty
	}
}

func (g *group) Terminate() { g.signal(syscall.SIGTERM) }
func (g *group) Kill()      { g.signal(syscall.SIGKILL) }

func (g *group) Wait() syscall.WaitStatus {
	_ = g.cmd.Wait() // the status tells
	return g.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// End kills the rest of the group when its leader has ended. It reaps those that became our children, which happens
// if this is the first process of a container. Later signals have no effect.
func (g *group) End() []int {
	g.Kill()
	leader := int(g.leader.Swap(0))
	for leader > 0 {
		if pid, err := syscall.Wait4(-leader, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			break
		}
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
