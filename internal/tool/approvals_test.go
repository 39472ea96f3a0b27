package tool_test

import (
	"os"
	"path/filepath"
	"testing"

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
		if err := first.Add("pay", pin); err != nil {
			t.Fatal(err)
		}
	}
	has("a", true)
	has("b", true)
	if err := os.WriteFile(path, []byte("{\"pin\":\"b\"}\nnot JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	has("a", false)
	has("b", true)
}
