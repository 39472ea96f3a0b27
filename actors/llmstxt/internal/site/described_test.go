package site_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site"
)

// Each archive in testdata is a repository; its file "want" has the sites: framework, configuration, base and what is
// unread, and below them the tree as "label | page | url | title".
func TestSites(t *testing.T) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			r, want := repository(a)
			sites := site.Read(r)
			if len(sites) == 0 {
				sites = append(sites, site.Folder(r, "docs"))
			}
			for _, s := range sites {
				write(&got, s)
			}
			if got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
		})
	}
}

func repository(a *txtar.Archive) (r *site.Repository, want string) {
	texts := make(map[string]string)
	var files []string
	for _, f := range a.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		if !fs.ValidPath(f.Name) {
			continue
		}
		texts[f.Name] = string(f.Data)
		files = append(files, f.Name)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	return site.NewRepository(files, func(p string) string { return texts[p] }), want
}

func write(b *strings.Builder, s *site.Site) {
	fmt.Fprintf(b, "%s %s %s\n", s.Framework, s.Config, s.Base)
	var tree func(list []*site.Node, indent string)
	tree = func(list []*site.Node, indent string) {
		for _, n := range list {
			line := fmt.Sprintf("%s%s | %s | %s | %s", indent, n.Label, n.Page, n.URL, n.Title)
			b.WriteString(strings.TrimRight(line, " |") + "\n")
			tree(n.Children, indent+"  ")
		}
	}
	tree(s.Root.Children, "  ")
}

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
