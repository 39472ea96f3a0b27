//go:build !unix

package source

import (
	"os/exec"
	"strconv"
)

// inherited are the variables that servers inherit.
var inherited = []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
	"USERPROFILE", "USERNAME", "LANG"}

// inGroup does nothing: this system has no process groups.
func inGroup(*exec.Cmd) {}

// Kill ends the children too: with npx.cmd, a child is the server.
func (g group) Kill() { _ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(g.leader)).Run() }

// End does nothing: nobody knows the children of a process that has ended.
func (g group) End() []int { return nil }
