package lab_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden llms.txt files of the quality kit")

// What the means over each half of the repositories must be.
const (
	leastRecall   = 0.93
	leastAnswered = 0.85
	mostNoise     = 0.10
	mostRepeated  = 0.05
)

// TestQuality generates llms.txt for each repository and holds it against what a reader of the repository chose
// beforehand, against other parsers, and against its golden file where it has one. Its table ends with the means.
func TestQuality(t *testing.T) {
	samples, binary := qualitySamples(t), buildBinary(t)
	halves := map[string]*scores{"work": {}, "final": {}}
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "name\tkind\tfiles\tlinks\trecall\tanswers\tnoise\trepeated\tsummary\tfacts\tms")
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			tree := s.source.obtain(t)
			made := generate(t, binary, tree)
			doc := readDocument(t, made.llms)
			s.has(t, tree)
			v := s.judge(t, tree, doc)
			halves[s.half()].add(v)
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.2f\t%d/%d\t%.2f\t%.2f\t%s\t%s\t%.0f\n", s.name, s.language,
				countFiles(t, tree), v.links, v.recall, v.found, v.asked, v.noise(), v.repeated(), said(v.summary),
				said(len(v.wrong) == 0), made.ms)
			agree(t, made.llms, doc)
			even(t, doc)
			accepted(t, binary, made.llms)
			golden(t, s.name, made.llms)
		})
	}
	for _, name := range []string{"work", "final"} {
		h := halves[name]
		fmt.Fprintf(table, "%s half, mean of %d\t\t\t\t%.2f\t%.2f\t%.2f\t%.2f\t%d wrong\t%d wrong\n", name, h.count,
			h.mean(h.recall), h.answered(), h.mean(h.noise), h.mean(h.repeated), h.summaries, h.facts)
		if h.count > 0 && !h.good() {
			t.Errorf("the means of the %s half miss the goal", name)
		}
	}
	fmt.Fprintf(table, "goal\t\t\t\t%.2f\t%.2f\t<%.2f\t<%.2f\t0 wrong\t0 wrong\n", leastRecall, leastAnswered, mostNoise,
		mostRepeated)
	table.Flush()
}

// even requires a note on every link of a section or on none. A README at the top needs none: the summary says it.
func even(t *testing.T, d document) {
	t.Helper()
	for _, s := range d.sections {
		lacking := len(s.links) - len(s.notes)
		if lacking > 0 && len(s.notes) > 0 && !(lacking == 1 && strings.Contains(strings.ToLower(s.links[0]), "readme")) {
			t.Errorf("%d of %d links in %q have no note", lacking, len(s.links), s.name)
		}
	}
}

func said(right bool) string {
	if right {
		return "right"
	}
	return "wrong"
}

// scores adds verdicts up.
type scores struct {
	count                   int
	recall, noise, repeated float64
	asked, found            int
	summaries, facts        int // how many repositories have a wrong one
}

func (a *scores) add(v verdict) {
	a.count++
	a.recall += v.recall
	a.noise += v.noise()
	a.repeated += v.repeated()
	a.asked += v.asked
	a.found += v.found
	if !v.summary {
		a.summaries++
	}
	if len(v.wrong) > 0 {
		a.facts++
	}
}

func (a *scores) mean(sum float64) float64 { return sum / float64(max(a.count, 1)) }

// answered is the share of the questions that a linked file answers, 1 where nothing is asked.
func (a *scores) answered() float64 {
	if a.asked == 0 {
		return 1
	}
	return float64(a.found) / float64(a.asked)
}

func (a *scores) good() bool {
	return a.mean(a.recall) > leastRecall-0.001 && a.answered() >= leastAnswered && a.mean(a.noise) < mostNoise &&
		a.mean(a.repeated) < mostRepeated && a.summaries == 0 && a.facts == 0
}

type generated struct {
	llms string // path of llms.txt
	ms   float64
}

// generate runs the command on the repository with caches and configuration of its own, and returns what it made.
func generate(t *testing.T, binary string, args ...string) generated {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"generate", "--out", out, "--quiet"}, args...)...)
	cmd.Env = isolated(t.TempDir())
	begin := time.Now()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
	}
	ms := float64(time.Since(begin)) / float64(time.Millisecond)
	return generated{llms: onlyFile(t, out, "llms.txt"), ms: ms}
}

// onlyFile is the one file of the name below the folder.
func onlyFile(t *testing.T, folder, name string) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 1 {
		t.Fatalf("generate left %v: %v", files, err)
	}
	return files[0]
}

// isolated is the environment without the user's own configuration, caches and tokens.
func isolated(home string) []string {
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "LASTWORD_") && !strings.Contains(v, "TOKEN") {
			env = append(env, v)
		}
	}
	return env
}

// accepted holds the file against the product's own check.
func accepted(t *testing.T, binary string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"check"}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("lastword check: %v\n%s", err, said)
	}
}

// golden compares with the golden file, where there is one: a dozen repositories show each difference. Those of
// docs/examples are for people to judge.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(root, "docs", "examples", name+".llms.txt")
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join("testdata", "quality", name+".golden")
	}
	if _, err := os.Stat(file); err != nil {
		return
	}
	text := readFile(t, got)
	if *update {
		writeFile(t, file, text)
		return
	}
	if want := readFile(t, file); !bytes.Equal(text, want) {
		t.Errorf("llms.txt differs from %s; read the new one, then rewrite it with -update:\n%s", file, text)
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return text
}

func writeFile(t *testing.T, file string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(file, text, 0o644))
}
