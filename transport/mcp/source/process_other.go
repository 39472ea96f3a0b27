//go:build !unix

package source

import "os/exec"

var inherited = []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
	"USERPROFILE", "USERNAME", "LANG"}

func inGroup(*exec.Cmd) {}

func killGroup(int) {}
