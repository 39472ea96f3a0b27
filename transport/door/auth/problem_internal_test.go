package auth

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
)

var update = flag.Bool("update", false, "rewrite docs/errors.md")

// "each with type that a docs page explains".
func TestErrorPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Errors\n\nEvery failure over HTTP is a problem (RFC 9457) with one of these codes. " +
		"This page is made from the\ncode's own table.\n")
	for _, row := range codes {
		fmt.Fprintf(&page, "\n## %s\n\nHTTP %d. %s. %s\n", row.code, row.status, row.title, row.remedy)
	}
	path := filepath.Join("..", "..", "..", "docs", "errors.md")
	if *update {
		fatal.IfError(t, os.WriteFile(path, []byte(page.String()), 0o644))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("docs/errors.md is not what the table says (%v): run make update", err)
	}
}
