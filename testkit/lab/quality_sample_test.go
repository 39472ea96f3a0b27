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

// ask is a question of an agent's, and the files of which each answers it.
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
