package lab_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
