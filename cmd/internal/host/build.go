package host

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// Build says from what this program was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Wire     string `json:"wire"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Full is the version, with the commit if the build recorded one.
func (b Build) Full() string {
	if len(b.Commit) < 12 {
		return b.Version
	}
	return b.Version + " " + b.Commit[:12]
}

func ThisBuild() Build {
	b := Build{Version: "devel", Wire: messages.WireVersion, Go: runtime.Version()}
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

// Exact differs between builds that have no version of their own, such as builds of a work tree.
func (b Build) Exact() string {
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
