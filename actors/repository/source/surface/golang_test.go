package surface_test

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

func TestGoPackages(t *testing.T) {
	golden(t, "testdata/go.txtar", func(files []txtar.File) string {
		var sources []surface.Source
		for _, f := range files {
			sources = append(sources, surface.Source{Path: f.Name, Text: f.Data})
		}
		return listing(surface.Go(t.Context(), sources))
	})
}

func TestGoOfNothing(t *testing.T) {
	for _, files := range [][]surface.Source{nil, {{Path: "a.go"}}, {{Path: "a.go", Text: []byte("not Go\n")}}} {
		if o := surface.Go(t.Context(), files); o.Doc != "" || len(o.Symbols) > 0 {
			t.Errorf("%v gives %+v", files, o)
		}
	}
}
