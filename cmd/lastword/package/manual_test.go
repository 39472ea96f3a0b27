package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command has a manual page with its flags. The program's own page has the exit codes.
func TestManuals(t *testing.T) {
	folder := t.TempDir()
	must(t, manuals(folder, "1.2.3"))
	for name, parts := range map[string][]string{
		"lastword":             {`.TH LASTWORD 1 "" "lastword 1.2.3"`, "the file is stale", "--progress auto|tty|plain|none", "(default \\fBauto\\fR)"},
		"lastword-generate":    {`lastword-generate \- Generate`, "lastword generate [", "--out folder"},
		"lastword-config-show": {"lastword config show"},
	} {
		page, err := os.ReadFile(filepath.Join(folder, name+".1"))
		must(t, err)
		for _, part := range parts {
			if !strings.Contains(string(page), part) {
				t.Errorf("%s.1 lacks %s:\n%.3000s", name, part, page)
			}
		}
	}
}
