package lab_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reading is what the parsers of testdata/quality/npm make of a file.
type reading struct {
	OK     bool // llmstxt-kit's
	Errors []struct {
		Rule string
		Line int
	}
	Title, Summary string // the rest is parse-llms-txt's
	Sections       []struct {
		Name  string
		Links int
	}
}

// agree holds the file against two parsers that are not ours. llmstxt-kit takes absolute links alone.
func agree(t *testing.T, file string, d document) {
	t.Helper()
	theirs := theirReading(t, file)
	if absolute(d) && !theirs.OK {
		t.Errorf("llmstxt-kit: %v", theirs.Errors)
	}
	if theirs.Title != d.title || theirs.Summary != d.summary {
		t.Errorf("parse-llms-txt reads %q, %q; not %q, %q", theirs.Title, theirs.Summary, d.title, d.summary)
	}
	if len(theirs.Sections) != len(d.sections) {
		t.Fatalf("parse-llms-txt reads %d sections, not %d", len(theirs.Sections), len(d.sections))
	}
	for i, s := range theirs.Sections {
		if s.Name != d.sections[i].name || s.Links != len(d.sections[i].links) {
			t.Errorf("parse-llms-txt reads %d links in %q, not %d in %q",
				s.Links, s.Name, len(d.sections[i].links), d.sections[i].name)
		}
	}
}

func absolute(d document) bool {
	for _, l := range d.links() {
		if !strings.HasPrefix(l, "https://") {
			return false
		}
	}
	return len(d.links()) > 0
}

func theirReading(t *testing.T, file string) (r reading) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(npmInstall(t, "quality"), "read.mjs"), file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	must(t, json.Unmarshal(out, &r))
	return r
}

// npmInstall brings the files of testdata/<name>/npm and what their package-lock.json names into a folder that is
// kept.
func npmInstall(t *testing.T, name string) string {
	t.Helper()
	dir, from := kitFolder(t, name+"-npm"), filepath.Join("testdata", name, "npm")
	files, err := filepath.Glob(filepath.Join(from, "*"))
	must(t, err)
	for _, f := range files {
		writeFile(t, filepath.Join(dir, filepath.Base(f)), readFile(t, f))
	}
	locked, stamp := readFile(t, filepath.Join(from, "package-lock.json")), filepath.Join(dir, "installed")
	if had, err := os.ReadFile(stamp); err != nil || !bytes.Equal(had, locked) {
		run(t, dir, nil, "npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund")
		writeFile(t, stamp, locked)
	}
	return dir
}
