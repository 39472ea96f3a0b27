package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README shows what generate prints of this repository; make update prints it again. Numbers may differ.
func TestReadmeSample(t *testing.T) {
	out := t.TempDir()
	cmd := binary(t, t.TempDir(), "generate", mustAbs(t, "../.."), "--out", out)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	files, err := filepath.Glob(filepath.Join(out, "*", "*", "llms.txt"))
	if more, _ := filepath.Glob(filepath.Join(out, "*", "*", "*", "llms.txt")); len(more) > 0 {
		files = more
	}
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	text := strings.ReplaceAll(string(printed), filepath.Dir(files[0]), "artifacts/github.com/seed889630bf/lastword")
	page, err := os.ReadFile("../../README.md")
	must(t, err)
	want := between(t, string(page), "run", sampleOf(text))
	if *update {
		put(t, "../../README.md", want)
	} else if masked(want) != masked(string(page)) {
		t.Errorf("generate prints something else than the README shows; make update prints it again\n%s", sampleOf(text))
	}
}

// sampleOf leaves most lines of the run out, and the ends of long lines.
func sampleOf(printed string) string {
	var b strings.Builder
	b.WriteString("```\n$ lastword generate .\n")
	run, card, _ := strings.Cut(printed, "\n\n")
	for line := range strings.Lines(run + "\n") {
		for _, told := range []string{"run.started", "fetch completed", "analyze completed", "llms.txt written", "run.completed"} {
			if told == "run.completed" && strings.Contains(line, told) {
				b.WriteString("  ...\n")
			}
			if strings.Contains(line, told) {
				b.WriteString(line)
			}
		}
	}
	b.WriteString("\n")
	for line := range strings.Lines(card) {
		if most := 116; len(line) > most {
			line = line[:most] + " ...\n"
		}
		b.WriteString(line)
	}
	b.WriteString("```\n")
	return b.String()
}

var (
	numbers = regexp.MustCompile(` at [0-9a-f]{12}| *\d[\d.,]*`)
	spaces  = regexp.MustCompile(` +`)
)

// masked leaves out what differs from commit to commit, and from machine to machine.
func masked(text string) string {
	return spaces.ReplaceAllString(numbers.ReplaceAllString(text, ""), " ")
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	must(t, err)
	return abs
}
