package testkit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// work is one whole command: the folder that it reads, and whether it finds the caches that its last run left.
type work struct {
	tree func(*testing.T) string
	warm bool
	args []string // of generate, before the folder
	home string   // the caches of a warm one
}

// generateFigures are of the whole command, from its start to its exit, the files on disk. Repomix packs the same
// folder without token count and security check; the ratios bound time and peak memory.
func generateFigures(binary string) []figure {
	mcpGo := remote{registry: "module", name: "github.com/mark3labs/mcp-go", version: "v1.2.1",
		sum: "h1:gd8VD3feMAVycwAM0x1nhv42Q1oLLjfOyowoUzHULB8="}.module
	pack := []string{"--full=all", "--ctx=false"}
	cold, warm, large := &work{tree: mcpGo, args: pack}, &work{tree: mcpGo, args: pack, warm: true},
		&work{tree: goSource, args: pack, warm: true}
	figures := alone(binary, "generate mcp-go", &work{tree: mcpGo}, 100, 60)
	figures = append(figures, alone(binary, "generate Go's src", &work{tree: goSource}, 1500, 250)...)
	figures = append(figures, besideRepomix(binary, "pack mcp-go, cold", cold)...)
	figures = append(figures, besideRepomix(binary, "pack mcp-go, warm", warm)...)
	return append(figures, besideRepomix(binary, "pack Go's src, warm", large)...)
}

func alone(binary, name string, w *work, ms, mb float64) []figure {
	return []figure{
		{name: name, unit: "ms", goal: ms, ours: func(t *testing.T) float64 { return w.ours(t, binary).MS }},
		{name: name + ", peak", unit: "MB", goal: mb, ours: func(t *testing.T) float64 { return w.ours(t, binary).MB }},
	}
}

func besideRepomix(binary, name string, w *work) []figure {
	theirs := &work{tree: w.tree, warm: w.warm}
	return []figure{{
		name: name, unit: "ms", goal: 0.25,
		ours:     func(t *testing.T) float64 { return w.ours(t, binary).MS },
		baseline: func(t *testing.T) float64 { return theirs.repomix(t).MS },
	}, {
		name: name + ", peak", unit: "MB", goal: 0.2,
		ours:     func(t *testing.T) float64 { return w.ours(t, binary).MB },
		baseline: func(t *testing.T) float64 { return theirs.repomix(t).MB },
	}}
}

func (w *work) ours(t *testing.T, binary string) measured {
	tree, out := w.tree(t), t.TempDir()
	args := append([]string{binary, "generate", "--quiet", "--out", out}, w.args...)
	m := w.measure(t, append(args, tree))
	full := onlyFile(t, out, "llms-full.txt")
	if len(w.args) > 0 {
		t.Logf("ours: %s", packed(t, tree, full, "## ", ""))
	}
	return m
}

func (w *work) repomix(t *testing.T) measured {
	tree, out := w.tree(t), filepath.Join(t.TempDir(), "repomix-output.xml")
	m := w.measure(t, []string{"node", filepath.Join(npmInstall(t, "bench"), "pack.cjs"), tree, out})
	t.Logf("repomix: %s", packed(t, tree, out, `<file path="`, `">`))
	return m
}

// measure runs the command with caches of its own: new ones, or those of a run before, which the first one fills.
func (w *work) measure(t *testing.T, command []string) measured {
	home := w.home
	if home == "" {
		var err error
		if home, err = os.MkdirTemp("", "lastword-bench"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(home) })
		if w.warm {
			measure(t, home, command)
			w.home = home
		}
	}
	return measure(t, home, command)
}

// packed says how many files of the tree a pack names, by the lines that begin them, and how long it is.
func packed(t *testing.T, tree, file, prefix, suffix string) string {
	t.Helper()
	text := readFile(t, file)
	named := map[string]bool{}
	for line := range bytes.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), prefix)
		if !ok {
			continue
		}
		name = strings.ReplaceAll(strings.TrimSuffix(name, suffix), `\`, "")
		if info, err := os.Lstat(filepath.Join(tree, name)); err == nil && info.Mode().IsRegular() {
			named[name] = true
		}
	}
	return fmt.Sprintf("%d files, %.2f MB", len(named), float64(len(text))/1e6)
}

// goSource is the standard library's folder, as the go command in use has it.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// measured is what one process took: wall clock, and the most memory that it held.
type measured struct{ MS, MB float64 }

// measure runs the command in a process of its own. Linux counts what the parent holds, too, until the child executes
// its program, so the parent must be small: not this process, but TestMeasured in another.
func measure(t *testing.T, home string, command []string) (m measured) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run=^TestMeasured$", "--"}, command...)...)
	cmd.Env = append(isolated(home), "TMPDIR="+home, "MEASURED="+report)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, said)
	}
	if err := json.Unmarshal(readFile(t, report), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMeasured is no test, but the other half of measure.
func TestMeasured(t *testing.T) {
	report := os.Getenv("MEASURED")
	if report == "" {
		t.Skip("runs as a process of the benchmarks")
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	begin := time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	text, err := json.Marshal(measured{MS: took.Seconds() * 1e3, MB: float64(peak) * 1024 / 1e6})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, report, text)
}
