//go:build unix

package source

import (
	"os/exec"
	"syscall"
)

var inherited = []string{"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"}

func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup ends what the process has left behind.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
