package lab_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// modelFigures are those of transport/llm, whose own benchmarks take them: a token's decoding is measured beside the
// library's in one run, and the streams' server is a process of its own.
func modelFigures(t *testing.T) []figure {
	binary := filepath.Join(t.TempDir(), "llm.test")
	build := exec.CommandContext(t.Context(), "go", "-C", root, "test", "-c", "-o", binary, "./transport/llm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var decode map[string]float64
	return []figure{
		{name: "decode a token", unit: "ns", goal: 1,
			ours: func(t *testing.T) float64 {
				decode = benchmark(t, binary, "Decode")
				return decode["ns/token"]
			},
			baseline: func(*testing.T) float64 { return decode["ns/token-go-openai"] }},
		{name: "200 streams of 100 tokens/s", unit: "cores", goal: 0.5, ours: func(t *testing.T) float64 {
			return benchmark(t, binary, "Streams")["cores"]
		}},
		{name: "their p99, server write to part", unit: "ms", goal: 5, ours: func(t *testing.T) float64 {
			return benchmark(t, binary, "Streams")["p99-ms"]
		}},
	}
}

// benchmark runs one benchmark of a test binary and returns what it reports, by unit.
func benchmark(t *testing.T, binary, name string) map[string]float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "-test.run", "^$", "-test.bench", "^Benchmark"+name+"$").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	metrics := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") || len(fields) < 4 {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if metrics[fields[i+1]], err = strconv.ParseFloat(fields[i], 64); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
		}
	}
	if len(metrics) == 0 {
		t.Fatalf("no figures in\n%s", out)
	}
	return metrics
}
