package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
)

// With --watch a change of a file is in llms.txt without another command, and what generate writes is no change.
func TestGenerateWatches(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("README.md", "# Garden\n\nA tool that grows things.\n")
	cmd := binary(t, dir, "generate", "--in-place", "--watch")
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines, runs := bufio.NewScanner(stderr), 0
	watching := func() {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), "run.queued") {
				runs++
			}
			if strings.HasPrefix(lines.Text(), "watching ") {
				return
			}
		}
		t.Fatal("it has ended")
	}
	watching()
	write("weeds.md", "# Weeds\n\nHow to love the weeds of a garden.\n")
	watching()
	if text, err := os.ReadFile(filepath.Join(dir, "llms.txt")); err != nil || !strings.Contains(string(text), "weeds.md") {
		t.Errorf("%s, %v", text, err)
	}
	must(t, cmd.Process.Signal(syscall.SIGINT))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "run.queued") {
			runs++
		}
	}
	if code := exitCode(t, cmd); code != exit.Interrupted || runs != 2 {
		t.Errorf("exit code %d after %d runs", code, runs)
	}
}
