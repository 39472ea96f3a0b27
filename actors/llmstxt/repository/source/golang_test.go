package source_test

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/golang"
)

func TestGoPackages(t *testing.T) {
	golden(t, "testdata/go.txtar", func(files []txtar.File) string {
		var sources []golang.Source
		for _, f := range files {
			sources = append(sources, golang.Source{Path: f.Name, Text: f.Data})
		}
		return listing(golang.Package(t.Context(), sources))
	})
}

func TestGoOfNothing(t *testing.T) {
	for _, files := range [][]golang.Source{nil, {{Path: "a.go"}}, {{Path: "a.go", Text: []byte("not Go\n")}}} {
		if o := golang.Package(t.Context(), files); o.Doc != "" || len(o.Symbols) > 0 {
			t.Errorf("%v gives %+v", files, o)
		}
	}
}
