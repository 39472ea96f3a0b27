//go:build unix

package source

import (
	"os/exec"
	"syscall"
)

// inherited are the variables that servers inherit.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"}

// inGroup makes the command the leader of a process group, which is killed when its context ends.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills processes that the server left behind.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
