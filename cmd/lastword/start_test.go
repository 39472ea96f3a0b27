package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/messages"
)

// version is answered before the packages that take long to initialise.
func TestVersionStartsLittle(t *testing.T) {
	cmd := exec.Command("lastword", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "lastword ") {
		t.Fatalf("%q, %v", out, err)
	}
	if !strings.Contains(trace.String(), "init os ") {
		t.Fatalf("there is no trace of what was initialised: %s", trace.String())
	}
	for _, slow := range []string{"santhosh-tekuri/jsonschema", "yuin/goldmark", "llmstxt/rank ", "client_golang/prometheus "} {
		if strings.Contains(trace.String(), slow) {
			t.Errorf("%s is initialised before version is answered", slow)
		}
	}
	if build.Wire != messages.WireVersion {
		t.Errorf("version names the wire %s, which is %s", build.Wire, messages.WireVersion)
	}
}
