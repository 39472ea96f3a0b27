//go:build unix

package source

import (
	"os/exec"
	"syscall"
)

// inherited are the variables that servers inherit.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"}

// inGroup makes the command the leader of a process group.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (g group) Kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) } // it may have ended

// End kills processes that the server left behind.
func (g group) End() []int {
	g.Kill()
	return nil
}
