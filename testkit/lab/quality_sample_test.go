package lab_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
)

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
	if os.Getenv("LASTWORD_QUALITY") == "" {
		t.Skip("obtains two dozen repositories from their registries: make quality")
	}
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
	samples := readSamples(t)
	halves := map[string]int{}
	languages := map[string]bool{}
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
