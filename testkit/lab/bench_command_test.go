package lab_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/command"
	"github.com/seed889630bf/lastword/messages"
)

// million is a program that says 1,000,000 lines.
var million = []string{"seq", "1000000"}

// commandFigures are about programs as runs.
func commandFigures(binary string) []figure {
	return []figure{
		{name: "1,000,000 lines of a command to the log", unit: "ms", goal: 5000, ours: func(t *testing.T) float64 { return commandTime(t, million, 1) }},
		{name: "the same with lastword run, peak memory", unit: "MB", goal: 64, ours: func(t *testing.T) float64 { return commandPeak(t, binary, million) }},
		{name: "1 GB of output with lastword run, peak memory", unit: "MB", goal: 128, ours: func(t *testing.T) float64 {
			return commandPeak(t, binary, []string{"head", "-c", "1000000000", "/dev/zero"})
		}},
		{name: "a run of /bin/true beyond fork and exec", unit: "ms", goal: 1.5, ours: func(t *testing.T) float64 {
			const n = 200
			begin := time.Now()
			for range n {
				must(t, exec.CommandContext(t.Context(), "/bin/true").Run())
			}
			bare := float64(time.Since(begin)) / float64(time.Millisecond) / n
			return commandTime(t, []string{"/bin/true"}, n) - bare
		}},
	}
}

// commandTime is the time of one of n runs of the program, one after the other, in milliseconds.
func commandTime(t *testing.T, program []string, n int) float64 {
	job, err := command.Define(command.Command{Name: "it", Command: program, Env: []string{"PATH"}}, command.Config{Environ: os.Environ()})
	must(t, err)
	s, done := newSystem(t, actors.Config{})
	defer done()
	begin := time.Now()
	for range n {
		made, err := job.New(nil)
		must(t, err)
		run, err := s.Start(t.Context(), made, actors.Options{Limits: job.Limits})
		must(t, err)
		if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
			t.Fatalf("%s: %v", state.Status, err)
		}
	}
	return float64(time.Since(begin)) / float64(time.Millisecond) / float64(n)
}

// commandPeak is the most memory of a process that runs the program, in megabytes. The process is asked before it ends:
// the figure that its parent gets at the end counts what the parent itself had.
func commandPeak(t *testing.T, binary string, program []string) float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "status")
	ask := []string{"run", "--", "sh", "-c", `"$@" && cat /proc/$PPID/status > "$0"`, file}
	cmd := exec.CommandContext(t.Context(), binary, append(ask, program...)...)
	cmd.Stdout = io.Discard
	must(t, cmd.Run())
	status, err := os.ReadFile(file)
	must(t, err)
	return memory(t, status, "VmHWM")
}
