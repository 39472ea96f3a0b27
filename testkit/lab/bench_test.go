package lab_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// root is the folder of the module that the lab tests.
const root = "../.."

const samples = 5

// figure is a row of the table of make bench. Ours and baseline take one sample each in the row's unit; the goal
// bounds the ratio of their medians, or ours alone where there is no baseline.
type figure struct {
	name, unit     string
	ours, baseline func(*testing.T) float64
	goal           float64
}

// look is a measurement that several rows tell of. It is taken once for all of them.
type look[T any] struct {
	take  func(*testing.T) T
	taken []T
}

// tell returns a row's figure of each measurement, in their order. It takes one where no other row has.
func (l *look[T]) tell(figure func(T) float64) func(*testing.T) float64 {
	next := 0
	return func(t *testing.T) float64 {
		if next == len(l.taken) {
			l.taken = append(l.taken, l.take(t))
		}
		next++
		return figure(l.taken[next-1])
	}
}

// itself tells of a measurement that is one figure.
func itself(figure float64) float64 { return figure }

// last returns the measurement that was taken last.
func (l *look[T]) last() T { return l.taken[len(l.taken)-1] }

func figures(t *testing.T) []figure {
	binary := buildBinary(t)
	version := look[float64]{take: func(t *testing.T) float64 { return startUp(t, binary, "version") }}
	return slices.Concat(runFigures(), longFigures(), liveFigures(), fanFigures(), firstFigures(), conversationFigures(), generateFigures(binary), modelFigures(t),
		journalFigures(), nodesFigures(), sqliteFigures(), throughputFigures(), auditFigures(), idleFigures(), webFigures(), dialectFigures(), chatFigures(), toolFigures(), planFigures(), commandFigures(binary), wrapFigures(binary), []figure{
			{name: "binary with both stores, stripped", unit: "MB", goal: 45, ours: func(t *testing.T) float64 { return megabytes(t, binary) }},
			{name: "lastword version, CPU", unit: "ms", goal: 10, ours: version.tell(itself)},
			{name: "lastword run --help beyond it, CPU", unit: "ms", goal: 8, ours: beyond(func(t *testing.T) float64 { return startUp(t, binary, "run", "--help") }, version.tell(itself))},
		})
}

// TestBenchTable takes the product's figures beside their baselines, by turns in this process, and fails where a goal is missed.
// It writes the whole table to docs/scaling.md.
func TestBenchTable(t *testing.T) {
	onlyBy(t, "bench")
	var table strings.Builder
	rows, taken := figures(t), 0
	for _, f := range rows {
		t.Run(f.name, func(t *testing.T) {
			line, met := f.measure(t)
			verdict := ""
			if !met {
				verdict = "missed"
				t.Error("misses its goal")
			}
			fmt.Fprintf(&table, "%s %s |\n", line, verdict)
			taken++
		})
	}
	fmt.Fprint(t.Output(), table.String())
	if taken == len(rows) {
		must(t, recordTable(table.String()))
	}
}

// benchHeading begins the part of docs/scaling.md that make bench writes.
const benchHeading = "## The last whole table\n"

func recordTable(rows string) error {
	file := filepath.Join(root, "docs/scaling.md")
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, _ := bytes.Cut(page, []byte(benchHeading))
	return os.WriteFile(file, fmt.Appendf(before, "%s\n`make bench` wrote this on %s, on %s. Each figure is the median of %d. A goal bounds the ratio, or the\n"+
		"figure where there is no baseline.\n\n| row | ours | baseline | ratio | goal | |\n|---|---|---|---|---|---|\n%s",
		benchHeading, time.Now().UTC().Format(time.DateOnly), machine(), samples, rows), 0o644)
}

// machine tells the kind of this one: its cores, its processor and its memory.
func machine() string {
	value := func(file, key string) string {
		text, _ := os.ReadFile(file) // another system has none
		_, rest, _ := strings.Cut(string(text), key)
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(strings.TrimLeft(line, " \t:"))
	}
	kB, _ := strconv.ParseFloat(strings.TrimSuffix(value("/proc/meminfo", "MemTotal"), " kB"), 64)
	return fmt.Sprintf("%s/%s with %d cores (%s) and %.0f GB", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), value("/proc/cpuinfo", "model name"), kB*1024/1e9)
}

// measure takes a row and gives it as cells of a table, without their end.
func (f figure) measure(t *testing.T) (line string, met bool) {
	var ours, baseline [samples]float64
	for i := range samples {
		ours[i] = f.ours(t)
		if f.baseline != nil {
			baseline[i] = f.baseline(t)
		}
	}
	mine := median(ours[:])
	if f.baseline == nil {
		return fmt.Sprintf("| %s | %.2f %s | | | %g %s |", f.name, mine, f.unit, f.goal, f.unit), mine <= f.goal
	}
	base := median(baseline[:])
	ratio := mine / base
	return fmt.Sprintf("| %s | %.2f %s | %.2f %s | %.2f | %g |", f.name, mine, f.unit, base, f.unit, ratio, f.goal), ratio <= f.goal
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func buildBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "lastword")
	build := exec.Command("go", "-C", root, "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/lastword")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	combined(t, build)
	return binary
}

func megabytes(t *testing.T, file string) float64 {
	t.Helper()
	info, err := os.Stat(file)
	must(t, err)
	return float64(info.Size()) / 1e6
}

// startUp is the median CPU time of a process in milliseconds.
func startUp(t *testing.T, binary string, args ...string) float64 {
	t.Helper()
	times := make([]float64, 21)
	for i := range times {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		must(t, cmd.Run())
		times[i] = milliseconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	}
	return median(times)
}

// freePorts are ports of this machine that nothing listens on.
func freePorts(t testing.TB, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer func() { _ = l.Close() }()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

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
		home, err = os.MkdirTemp("", "lastword-bench")
		must(t, err)
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
