package lab_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"text/tabwriter"
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

func figures(t *testing.T) []figure {
	binary := buildBinary(t)
	return slices.Concat(runFigures(), longFigures(), liveFigures(), fanFigures(), firstFigures(), conversationFigures(), generateFigures(binary), modelFigures(t),
		journalFigures(), nodesFigures(), sqliteFigures(), throughputFigures(), auditFigures(), idleFigures(), webFigures(), dialectFigures(), chatFigures(), toolFigures(), planFigures(), commandFigures(binary), wrapFigures(binary), []figure{
			{name: "binary with both stores, stripped", unit: "MB", goal: 45, ours: func(t *testing.T) float64 { return megabytes(t, binary) }},
			{name: "lastword version", unit: "ms", goal: 10, ours: func(t *testing.T) float64 { return startUp(t, binary) }},
		})
}

// TestBenchTable prints the product's figures beside their baselines, taken by turns in this process, and fails where
// a goal is missed.
func TestBenchTable(t *testing.T) {
	if os.Getenv("LASTWORD_BENCH") == "" {
		t.Skip("takes minutes of a quiet machine: make bench")
	}
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "name\tours\tbaseline\tratio\tgoal")
	for _, f := range figures(t) {
		t.Run(f.name, func(t *testing.T) {
			line, met := f.measure(t)
			fmt.Fprintln(table, line)
			if !met {
				t.Error("misses its goal")
			}
		})
	}
}

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
		return fmt.Sprintf("%s\t%.2f %s\t-\t-\t%g %s", f.name, mine, f.unit, f.goal, f.unit), mine <= f.goal
	}
	base := median(baseline[:])
	ratio := mine / base
	return fmt.Sprintf("%s\t%.2f %s\t%.2f %s\t%.2f\t%g", f.name, mine, f.unit, base, f.unit, ratio, f.goal), ratio <= f.goal
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
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func megabytes(t *testing.T, file string) float64 {
	t.Helper()
	info, err := os.Stat(file)
	must(t, err)
	return float64(info.Size()) / 1e6
}

// startUp is the median time of a process in milliseconds, from its start to its exit.
func startUp(t *testing.T, binary string) float64 {
	t.Helper()
	times := make([]float64, 21)
	for i := range times {
		begin := time.Now()
		must(t, exec.CommandContext(t.Context(), binary, "version").Run())
		times[i] = float64(time.Since(begin)) / float64(time.Millisecond)
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
