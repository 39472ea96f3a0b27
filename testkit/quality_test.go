package testkit_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden llms.txt files of the quality kit")

// leastRecall is the part of the ten best links that llms.txt must have.
const leastRecall = 0.7

// sample is a real repository, with what somebody who read it would want to be given. It is read from a file of
// testdata/quality: fields, an empty line, and the best links, each a path or paths of equal worth with " | "
// between.
type sample struct {
	name     string
	language string
	source   remote
	summary  string   // one good line; for those who judge by eye
	words    []string // which the summary must contain, in any case
	noise    []*regexp.Regexp
	best     [][]string
}

// TestQuality generates llms.txt for real repositories and holds each against what a reader of the repository chose
// beforehand, against other parsers, and against its golden file.
func TestQuality(t *testing.T) {
	samples, binary := qualitySamples(t), buildBinary(t)
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "name\tlanguage\tfiles\tlinks\trecall\tnoise\tms")
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			tree := s.source.obtain(t)
			made := generate(t, binary, nil, tree)
			doc := readDocument(t, made.llms)
			v := s.judge(t, tree, doc)
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.1f\t%d\t%.0f\n",
				s.name, s.language, countFiles(t, tree), len(v.order), v.recall, len(v.noise), made.ms)
			agree(t, made.llms, doc)
			accepted(t, binary, made.llms)
			golden(t, filepath.Join("testdata", "quality", s.name+".golden"), made.llms)
		})
	}
}

// qualitySamples reads all samples, or skips the test where nobody asked for it: it needs a network and minutes.
func qualitySamples(t *testing.T) []sample {
	t.Helper()
	if os.Getenv("LASTWORD_QUALITY") == "" {
		t.Skip("obtains a dozen repositories from their registries: make quality")
	}
	files, err := filepath.Glob(filepath.Join("testdata", "quality", "*.txt"))
	if err != nil || len(files) < 8 {
		t.Fatalf("only %d samples: %v", len(files), err)
	}
	samples := make([]sample, len(files))
	for i, f := range files {
		samples[i] = readSample(t, f)
	}
	return samples
}

func readSample(t *testing.T, file string) sample {
	t.Helper()
	s := sample{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	head, list, _ := strings.Cut(string(readFile(t, file)), "\n\n")
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := s.set(name, value); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for line := range strings.Lines(list) {
		s.best = append(s.best, strings.Split(strings.TrimSpace(line), " | "))
	}
	if len(s.best) != 10 {
		t.Fatalf("%s lists %d links, not ten", file, len(s.best))
	}
	return s
}

func (s *sample) set(name, value string) (err error) {
	switch name {
	case "language":
		s.language = value
	case "source":
		s.source, err = parseRemote(s.name, value)
	case "summary":
		s.summary = value
	case "words":
		s.words = strings.Split(value, ", ")
	case "noise":
		for p := range strings.SplitSeq(value, ", ") {
			s.noise = append(s.noise, regexp.MustCompile(p))
		}
	default:
		err = fmt.Errorf("no field is named %q", name)
	}
	return err
}

type generated struct {
	llms string // path of llms.txt
	ms   float64
}

// generate runs the command on the repository with caches and configuration of its own, and returns what it made.
func generate(t *testing.T, binary string, env []string, args ...string) generated {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"generate", "--out", out, "--quiet"}, args...)...)
	cmd.Env = append(isolated(t.TempDir()), env...)
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

func golden(t *testing.T, file, got string) {
	t.Helper()
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
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeFile(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
