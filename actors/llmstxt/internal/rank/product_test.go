package rank_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestFactsAreThoseOfThePublishedPackage holds each fact to the package that one can install, or to silence: "dotnet
// add package Build" for Dapper sent an agent to a foreign package.
func TestFactsAreThoseOfThePublishedPackage(t *testing.T) {
	files, err := filepath.Glob("testdata/products/*.txtar") // the first line is what the index says
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no products")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		archive := fixture(t, "products/"+name)
		want, _, _ := strings.Cut(archive, "\n")
		index := build(t, archive, scan.Origin{Owner: "x", Repo: "Dapper"}, rank.Options{})
		got := facts(index)
		said := fmt.Sprintf("title %q, published %q, install %q", index.Title, got["Package"]+got["Module"], got["Install"])
		if said != want {
			t.Errorf("%s: %s, want %s", name, said, want)
		}
		if got["Commands"] != "" {
			t.Errorf("%s: names the commands %s, which it has not", name, got["Commands"])
		}
		if got["Version"] == "0.0.0" {
			t.Errorf("%s: the version of what nobody installs", name)
		}
	}
}
