package lab_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
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
	combined(t, cmd)
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

// sample is a repository, with what somebody who read it would want to be given: a block of
// testdata/quality/repositories.txt, which explains the fields.
type sample struct {
	name     string
	language string
	source   remote
	summary  string
	sense    []*regexp.Regexp
	facts    map[string][]string
	never    []*regexp.Regexp
	best     [][]string
	asks     []ask
}

// ask is a question of an agent's, and the files that answer it, each alone.
type ask struct {
	question string
	answers  []string
}

// half tells the half of the repositories that one may look at while working from the one for the final figure.
func (s sample) half() string {
	sum := fnv.New32a()
	sum.Write([]byte(s.name))
	return [...]string{"work", "final"}[sum.Sum32()%2]
}

// qualitySamples reads all samples, or skips the test where nobody asked for it: it needs a network and minutes.
func qualitySamples(t *testing.T) []sample {
	t.Helper()
	onlyBy(t, "quality")
	return readSamples(t)
}

func readSamples(t *testing.T) (samples []sample) {
	t.Helper()
	file := filepath.Join("testdata", "quality", "repositories.txt")
	blocks := strings.Split(string(readFile(t, file)), "\n\n= ")
	for _, block := range blocks[1:] {
		s, err := readSample(block)
		if err != nil {
			t.Fatalf("%s: %s: %v", file, s.name, err)
		}
		samples = append(samples, s)
	}
	return samples
}

// readSample reads a block: its name, a line for readers, fields, and ten links.
func readSample(block string) (sample, error) {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	s := sample{name: lines[0], facts: map[string][]string{}}
	if len(lines) < 2 {
		return s, fmt.Errorf("a block has a name and a line for readers")
	}
	for _, line := range lines[2:] {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			s.best = append(s.best, strings.Split(line, " | "))
		} else if err := s.set(name, value); err != nil {
			return s, err
		}
	}
	if len(s.best) != 10 {
		return s, fmt.Errorf("%d links are listed, not ten", len(s.best))
	}
	return s, nil
}

func (s *sample) set(name, value string) (err error) {
	switch name {
	case "language":
		s.language = value
	case "source":
		s.source, err = parseRemote(s.name, value)
	case "summary":
		s.summary = value
	case "sense":
		s.sense, err = patterns("(?i)", value)
	case "title", "package", "install":
		s.facts[name] = strings.Split(value, " | ")
	case "ask":
		question, answers, _ := strings.Cut(value, " => ")
		s.asks = append(s.asks, ask{question, strings.Split(answers, " | ")})
	case "never":
		s.never, err = patterns("", value)
	default:
		err = fmt.Errorf("no field is named %q", name)
	}
	return err
}

func patterns(flags, list string) (all []*regexp.Regexp, err error) {
	for text := range strings.SplitSeq(list, ", ") {
		pattern, err := regexp.Compile(flags + text)
		if err != nil {
			return nil, err
		}
		all = append(all, pattern)
	}
	return all, nil
}

func sampleNamed(t *testing.T, name string) sample {
	t.Helper()
	samples := readSamples(t)
	i := slices.IndexFunc(samples, func(s sample) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("no sample is named %s", name)
	}
	return samples[i]
}

// TestSamples holds the lists of the quality kit to what the kit is for, without a network.
func TestSamples(t *testing.T) {
	samples, halves, languages := readSamples(t), map[string]int{}, map[string]bool{}
	for _, s := range samples {
		languages[s.language] = true
		if s.summary == "" || len(s.sense) == 0 || s.source.name == "" || len(s.facts["title"]) == 0 || len(s.asks) != 3 {
			t.Errorf("%s says too little", s.name)
		}
		for _, pattern := range s.sense {
			if !pattern.MatchString(s.summary) {
				t.Errorf("the good summary of %s lacks %s", s.name, pattern)
			}
		}
		halves[s.half()]++
		for _, b := range s.best {
			if noise := s.noisy(b); len(noise) > 0 {
				t.Errorf("%s wants noise: %v", s.name, noise)
			}
		}
		if s.source.registry == "tree" {
			s.has(t, s.source.obtain(t))
		}
	}
	if least := len(samples) / 3; halves["work"] < least || halves["final"] < least {
		t.Errorf("the halves are of %v", halves)
	}
	if len(samples) < 30 || len(languages) < 18 {
		t.Errorf("%d repositories in %d languages and kinds; 30 in 18 are promised", len(samples), len(languages))
	}
}

// has fails the test where a link of the list leads to no file of the tree.
func (s sample) has(t *testing.T, tree string) {
	t.Helper()
	paths := slices.Concat(s.best...)
	for _, a := range s.asks {
		paths = append(paths, a.answers...)
	}
	for _, p := range paths {
		if _, err := os.Stat(filepath.Join(tree, filepath.FromSlash(p))); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

var must = fatal.IfError
