//go:build !unix

package source

import (
	"os/exec"
	"strconv"
)

// inherited are the variables that servers inherit.
var inherited = []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
	"USERPROFILE", "USERNAME", "LANG"}

// inGroup makes a cancel end the children too: with npx.cmd, a child is the server.
func inGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}

// killGroup does nothing: nobody knows the children of a process that has ended.
func killGroup(int) {}
