package testkit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A pull request is checked with a token that reads, without secrets, and by actions that nobody can exchange.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflow", err)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		text := string(data)
		if !strings.Contains(text, "\npermissions:\n  contents: read\n") || strings.Count(text, "permissions:") != 1 {
			t.Errorf("%s: its only permission is not contents: read", file)
		}
		for _, denied := range []string{"pull_request_target", "secrets.", "workflow_run", "write"} {
			if strings.Contains(text, denied) {
				t.Errorf("%s has %s", file, denied)
			}
		}
		for _, use := range regexp.MustCompile(`uses: *(.*)`).FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(use[1]) {
				t.Errorf("%s: %s is not pinned by digest", file, use[1])
			}
		}
	}
}
