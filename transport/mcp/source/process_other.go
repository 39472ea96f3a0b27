//go:build !unix

package source

import "os/exec"

// inherited are the variables that servers inherit.
var inherited = []string{"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA",
	"USERPROFILE", "USERNAME", "LANG"}

func inGroup(*exec.Cmd) {}

func killGroup(int) {}
