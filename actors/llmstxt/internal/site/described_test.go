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
