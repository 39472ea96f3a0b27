package lab_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	// files are those that it packed.
	files map[string]bool
}

// generateFigures are of the whole command, from its start to its exit, the files on disk. Repomix packs the same
// files; both look for secrets, and count tokens where the row says so. The ratios bound time and peak memory.
func generateFigures(binary string) []figure {
	mcpGo := remote{registry: "module", name: "github.com/mark3labs/mcp-go", version: "v1.2.1",
		sum: "h1:gd8VD3feMAVycwAM0x1nhv42Q1oLLjfOyowoUzHULB8="}.module
	figures := alone(binary, "generate mcp-go", &work{tree: mcpGo}, 100, 60)
	figures = append(figures, alone(binary, "generate Go's src", &work{tree: goSource}, 1500, 250)...)
	for _, of := range []struct {
		name string
		tree func(*testing.T) string
		peak float64
	}{{"mcp-go", packedByBoth(binary, mcpGo), 0.5}, {"Go's src", packedByBoth(binary, goSource), 0.2}} {
		for _, row := range []struct {
			name string
			warm bool
			args []string
			goal float64
		}{
			{"pack %s, cold", false, nil, 0.25},
			{"pack %s, warm", true, nil, 0.25},
			{"pack and count %s, cold", false, []string{countTokens}, 0.77},
			{"pack and count %s, warm", true, []string{countTokens}, 0.25},
		} {
			w := work{tree: of.tree, warm: row.warm, args: append(row.args, packAll...)}
			figures = append(figures, besideRepomix(binary, fmt.Sprintf(row.name, of.name), w, row.goal, of.peak)...)
		}
	}
	return figures
}

const countTokens = "--count-tokens"

var packAll = []string{"--full=all", "--ctx=false"}

// packedByBoth copies the files of a folder that we and repomix both pack.
func packedByBoth(binary string, from func(*testing.T) string) func(*testing.T) string {
	copied := ""
	return func(t *testing.T) string {
		t.Helper()
		if copied != "" {
			return copied
		}
		tree := from(t)
		copied = filepath.Join(kitFolder(t, "bench-trees"), filepath.Base(filepath.Dir(tree))+"-"+filepath.Base(tree))
		must(t, os.RemoveAll(copied))
		same := func(*testing.T) string { return tree }
		ours, theirs := &work{tree: same, args: packAll}, &work{tree: same}
		ours.ours(t, binary)
		theirs.repomix(t)
		for name := range ours.files {
			if theirs.files[name] {
				to := filepath.Join(copied, name)
				must(t, os.MkdirAll(filepath.Dir(to), 0o755))
				writeFile(t, to, readFile(t, filepath.Join(tree, name)))
			}
		}
		t.Logf("both pack %d files", countFiles(t, copied))
		return copied
	}
}

func alone(binary, name string, w *work, ms, mb float64) []figure {
	ours := look[measured]{take: func(t *testing.T) measured { return w.ours(t, binary) }}
	return []figure{
		{name: name, unit: "ms", goal: ms, ours: ours.tell(wallClock)},
		{name: name + ", peak", unit: "MB", goal: mb, ours: ours.tell(mostMemory)},
	}
}

func besideRepomix(binary, name string, w work, goal, peak float64) []figure {
	beside := w
	ours := look[measured]{take: func(t *testing.T) measured { return w.ours(t, binary) }}
	theirs := look[measured]{take: beside.repomix}
	return []figure{
		{name: name, unit: "ms", goal: goal, ours: ours.tell(wallClock), baseline: theirs.tell(wallClock)},
		{name: name + ", peak", unit: "MB", goal: peak, ours: ours.tell(mostMemory), baseline: theirs.tell(mostMemory)},
	}
}

func (w *work) ours(t *testing.T, binary string) measured {
	tree, out := w.tree(t), t.TempDir()
	args := append([]string{binary, "generate", "--quiet", "--out", out}, w.args...)
	m, full := w.measure(t, append(args, tree)), onlyFile(t, out, "llms-full.txt")
	if len(w.args) > 0 {
		w.files = packed(t, tree, full, "## ", "")
		t.Logf("ours: %d files", len(w.files))
	}
	return m
}

func (w *work) repomix(t *testing.T) measured {
	tree, out := w.tree(t), filepath.Join(t.TempDir(), "repomix-output.xml")
	command := []string{"node", filepath.Join(npmInstall(t, "bench"), "pack.cjs"), tree, out}
	if slices.Contains(w.args, countTokens) {
		command = append(command, "tokens")
	}
	m := w.measure(t, command)
	w.files = packed(t, tree, out, `<file path="`, `">`)
	t.Logf("repomix: %d files", len(w.files))
	return m
}

// measure runs the command with caches of its own: new ones, or warm ones, which the first run fills.
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

// packed lists the files of the tree that a pack names, by the lines that begin them.
func packed(t *testing.T, tree, file, prefix, suffix string) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	for line := range bytes.Lines(readFile(t, file)) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), prefix)
		if !ok {
			continue
		}
		name = strings.ReplaceAll(strings.TrimSuffix(name, suffix), `\`, "")
		if info, err := os.Lstat(filepath.Join(tree, name)); err == nil && info.Mode().IsRegular() {
			named[name] = true
		}
	}
	return named
}

// goSource is the standard library's folder, as the go command in use has it.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	must(t, err)
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// measured is what one process took: wall clock, and the most memory that it held.
type measured struct{ MS, MB float64 }

func wallClock(m measured) float64  { return m.MS }
func mostMemory(m measured) float64 { return m.MB }

// measure runs the command in its own process. Linux counts what the parent holds, too, until the child executes
// its program, so the parent must be small: not this process, but TestMeasured in another.
func measure(t *testing.T, home string, command []string) (m measured) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run=^TestMeasured$", "--"}, command...)...)
	cmd.Env = append(isolated(home), "TMPDIR="+home, "MEASURED="+report)
	combined(t, cmd)
	must(t, json.Unmarshal(readFile(t, report), &m))
	return m
}

// TestMeasured is no test, but the other half of measure.
func TestMeasured(t *testing.T) {
	report := os.Getenv("MEASURED")
	if report == "" {
		t.Skip("runs as a process of the benchmarks")
	}
	cmd, begin := exec.Command(flag.Arg(0), flag.Args()[1:]...), time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	text, err := json.Marshal(measured{MS: took.Seconds() * 1e3, MB: float64(peak) * 1024 / 1e6})
	must(t, err)
	writeFile(t, report, text)
}
