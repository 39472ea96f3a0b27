package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/messages"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: helping,
		Short:   "Print the version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			about := aboutThis()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), about)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "lastword %s, %s, %s %s\n",
				about.full(), about.Wire, about.Go, about.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// build is what this program was made of.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Wire     string `json:"wire"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// full is the version with the commit where the build recorded one.
func (b build) full() string {
	if len(b.Commit) < 12 {
		return b.Version
	}
	return b.Version + " " + b.Commit[:12]
}

func aboutThis() build {
	b := build{Version: "devel", Wire: messages.WireVersion, Go: runtime.Version()}
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

// exact tells builds apart that have no version of their own, as those of a work tree.
func (b build) exact() string {
	self, err := os.Executable()
	if err != nil || !strings.Contains(b.Version, "dev") && !strings.Contains(b.Version, "dirty") {
		return b.full()
	}
	info, err := os.Stat(self)
	if err != nil {
		return b.full()
	}
	return fmt.Sprintf("%s %d %d", b.full(), info.Size(), info.ModTime().UnixNano())
}
