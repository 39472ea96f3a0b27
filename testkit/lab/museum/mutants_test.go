package museum

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

//go:embed mutants.txt
var mutants []byte

// TestMutants holds the table of mutants: each changes one place of our source, and every bug of the museum has one. The
// others break promises whose tests are elsewhere.
// With LASTWORD_MUSEUM set it builds each, and the test of its name must fail.
func TestMutants(t *testing.T) {
	exhibits := named(t)
	for _, m := range txtar.Parse(mutants).Files {
		fields := append(strings.Fields(m.Name), "testkit/lab/museum")
		name, folder := fields[0], filepath.Join("../../..", fields[2])
		path, err := filepath.Abs(filepath.Join("../../..", fields[1]))
		must(t, err)
		source, err := os.ReadFile(path)
		must(t, err)
		before, after := sides(string(m.Data))
		if n := strings.Count(string(source), before); n != 1 || before == after {
			t.Errorf("%s changes %d places of %s", name, n, path)
			continue
		}
		if exhibits = slices.DeleteFunc(exhibits, func(e string) bool { return e == name }); os.Getenv("LASTWORD_MUSEUM") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) { killed(t, name, folder, path, strings.Replace(string(source), before, after, 1)) })
	}
	if len(exhibits) > 0 {
		t.Errorf("nothing puts back the bugs of %v", exhibits)
	}
}

// named are the tests of the museum.
func named(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+\d)\(`).FindAllSubmatch(source, -1) {
			all = append(all, string(m[1]))
		}
	}
	return all
}

// sides returns what a mutant replaces, and with what. The last line's end belongs to neither.
func sides(hunk string) (before, after string) {
	for line := range strings.Lines(hunk) {
		switch {
		case strings.HasPrefix(line, "-"):
			before += line[1:]
		case strings.HasPrefix(line, "+"):
			after += line[1:]
		}
	}
	return strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")
}

// killed requires that the test in the folder fails with the other source in the place of the file.
func killed(t *testing.T, test, in, path, source string) {
	folder := t.TempDir()
	mutant, overlay := filepath.Join(folder, filepath.Base(path)), filepath.Join(folder, "overlay.json")
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
	must(t, err)
	for file, data := range map[string][]byte{mutant: []byte(source), overlay: table} {
		must(t, os.WriteFile(file, data, 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-timeout=1m", "-overlay", overlay, "-run", "^"+test+"$", ".")
	cmd.Dir = in
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "FAIL") || strings.Contains(string(out), "[build failed]") {
		t.Errorf("the mutant lives: %v\n%s", err, out)
	}
}
