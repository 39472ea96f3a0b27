package site_test

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site"
)

// A repository is any text. Its pages stand once and are files of it.
func FuzzRead(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Format(a))
	}
	f.Add([]byte("-- conf.py --\n\nx = [[((f\"{x!r}\" or {1:\n-- index.rst --\n.. toctree::\n   :glob:\n\n   [z-a]*\n   /../<x>\n"))
	f.Add([]byte("-- mkdocs.yml --\nINHERIT: mkdocs.yml\ndocs_dir: ..\nnav: [&a {x: [/]}, '*/', '!include mkdocs.yml', *a]\n-- docs/a.md --\n"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		r, _ := repository(txtar.Parse(archive))
		for _, s := range append(site.Read(r), site.Folder(r, "docs")) {
			if s == nil {
				continue
			}
			seen := make(map[string]bool)
			var walk func(n *site.Node)
			walk = func(n *site.Node) {
				if n.Page != "" && (seen[n.Page] || !slices.Contains(r.Files, n.Page)) {
					t.Errorf("%s %s: %q stands twice or is no file", s.Framework, s.Config, n.Page)
				}
				seen[n.Page] = true
				for _, c := range n.Children {
					walk(c)
				}
			}
			walk(&s.Root)
		}
	})
}
