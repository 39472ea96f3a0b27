package testkit_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestSamples holds the lists of the quality kit to what the kit is for, without a network.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "quality", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	languages := map[string]bool{}
	for _, f := range files {
		s := readSample(t, f)
		languages[s.language] = true
		if s.summary == "" || len(s.words) == 0 || s.source.sum == "" {
			t.Errorf("%s says too little", f)
		}
		for _, b := range s.best {
			if noise := s.noisy(b); len(noise) > 0 {
				t.Errorf("%s wants noise: %v", f, noise)
			}
		}
	}
	if len(files) < 8 || len(languages) < 6 {
		t.Errorf("%d repositories in %d languages; at least 8 in 6 are promised", len(files), len(languages))
	}
}

// TestNoise shows that each kind of noise is told from what it looks like.
func TestNoise(t *testing.T) {
	noise := []string{
		"a/tests/b.py", "a_test.go", "x/b.spec.ts", "test_a.py", "go.sum", "package-lock.json", "Cargo.lock", "bun.lock",
		"yarn.lock", "pnpm-lock.yaml", ".github/workflows/ci.yml", ".travis.yml", "ISSUE_TEMPLATE.md", "CODE_OF_CONDUCT.md",
		"vendor/a/b.go", "a/third_party/b.c", "a.min.js", "api.pb.go", "testdata/x.md", "__fixtures__/a.js", "logo.png",
	}
	if got := (sample{}).noisy(noise); !slices.Equal(got, noise) {
		t.Errorf("told as noise %v of %v", got, noise)
	}
	fine := []string{
		"README.md", "docs/testing.md", "lib/testing.rb", "latest.go", "src/lock.rs", "mcptest/mcptest.go", "LICENSE",
	}
	if got := (sample{}).noisy(fine); len(got) > 0 {
		t.Errorf("told as noise: %v", got)
	}
	if got := (sample{}).noisy([]string{"COPYING", "LICENSE-MIT", "UNLICENSE"}); len(got) != 2 {
		t.Errorf("of three licences %v are noise, not two", got)
	}
}

// TestHollowNotes shows which notes the kit takes for none.
func TestHollowNotes(t *testing.T) {
	d := document{sections: []section{
		{notes: []string{"Part of it.", "Wait a minute?", "(c) Jane Doe <jane@example.com>", "Reads files."}},
		{notes: []string{"Part of it.", "Part of it.", "Sends mail to a user@host of yours."}},
	}}
	want := []string{"Wait a minute?", "(c) Jane Doe <jane@example.com>", "Part of it."}
	if got := d.hollow(); !slices.Equal(got, want) {
		t.Errorf("told as hollow %q, not %q", got, want)
	}
}
