package build

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Wire is messages.WireVersion. This package does not import messages, because it must not import anything that takes
// time to initialize.
const Wire = "run-events/1"

// Info says from what the program was built.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Wire     string `json:"wire"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Full returns the version, with the commit if the build recorded one.
func (b Info) Full() string {
	if len(b.Commit) < 12 {
		return b.Version
	}
	return b.Version + " " + b.Commit[:12]
}

// This returns the Info of this program.
func This() Info {
	b := Info{Version: "devel", Wire: Wire, Go: runtime.Version()}
	b.Platform = runtime.GOOS + "/" + runtime.GOARCH
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

// Exact returns a version that differs between builds that lack a version, such as builds of a work tree.
func (b Info) Exact() string {
	self, err := os.Executable()
	if err != nil || !strings.Contains(b.Version, "dev") && !strings.Contains(b.Version, "dirty") {
		return b.Full()
	}
	info, err := os.Stat(self)
	if err != nil {
		return b.Full()
	}
	return fmt.Sprintf("%s %d %d", b.Full(), info.Size(), info.ModTime().UnixNano())
}

// String returns what "lastword version" prints.
func (b Info) String() string {
	return fmt.Sprintf("lastword %s, %s, %s %s", b.Full(), b.Wire, b.Go, b.Platform)
}
