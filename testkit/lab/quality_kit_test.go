package lab_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

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

// must ends the test with the error, where there is one.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
