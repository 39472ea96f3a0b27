package tool_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/tool"
)

func TestApprovals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "allowed")
	first, second := tool.OpenApprovals(path), tool.OpenApprovals(path)
	has := func(pin string, want bool) {
		t.Helper()
		if got, err := second.Has(pin); got != want || err != nil {
			t.Errorf("%s is in the list: %t, %v", pin, got, err)
		}
	}
	has("a", false)
	for _, pin := range []string{"a", "b"} {
		must(t, first.Add("pay", pin))
	}
	has("a", true)
	has("b", true)
	must(t, os.WriteFile(path, []byte("{\"pin\":\"b\"}\nnot JSON\n"), 0o600))
	has("a", false)
	has("b", true)
}

var must = fatal.IfError
