package graph

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
	"github.com/seed889630bf/lastword/messages/words"
)

// Limits of a graph.
const (
	mostPages    = 2_000
	mostPackages = 20_000
	mostExternal = 5_000
	mostEdges    = 100_000
)

// Graph holds the packages of a repository, ready to be written. It is for one goroutine at a time.
type Graph struct {
	Document
	parts map[string]*part // by id
	line  func(string) string
}

// Options configure Build. The zero value is ready for use.
type Options struct {
	// Title is the title of the repository; "" means its name.
	Title string
	// Go runs f concurrently, so that several packages are read at a time. It may be nil.
	Go func(f func(ctx context.Context) error)
	// Progress is called with the number of packages that were read, and their total. It may be nil.
	Progress func(done, total int)
}

// Build makes the graph from a survey of the repository, which is that of its index. The only error is the cause of
// ctx: a file that can no longer be read is skipped.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, survey rank.Survey, o Options) (*Graph, error) {
	ps := newParts(repo, survey)
	g := &Graph{parts: map[string]*part{}, line: shown.Liner()}
	g.Document = Document{Version: Version, Title: g.line(cmp.Or(o.Title, repo.Name)), Facts: []string{}, Nodes: []Node{},
		Edges: []Edge{}, Remote: repo.Origin.Remote, Commit: repo.Origin.Commit, Folder: g.line(repo.Origin.Prefix)}
	list := g.bounded(ps.list())
	partly := plan(list)
	if err := readAll(ctx, files, list, survey.Uses, o); err != nil {
		return nil, err
	}
	g.connect(survey.Imports, list)
	g.fact(partly, "%s: not all files were searched for exports", "package")
	g.Stats = g.count()
	return g, nil
}

// fact adds a fact about n things that are missing, unless n is 0.
func (g *Graph) fact(n int, format, thing string) {
	if n > 0 {
		g.Facts = append(g.Facts, fmt.Sprintf(format, words.Count(n, thing)))
	}
}

// bounded keeps the largest packages, and chooses those that get a page.
func (g *Graph) bounded(list []*part) []*part {
	slices.SortFunc(list, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.path, b.path))
	})
	dropped := max(0, len(list)-mostPackages)
	g.fact(dropped, "the smallest %s left out: there are too many", "package")
	list = list[:len(list)-dropped]
	g.fact(max(0, len(list)-mostPages), "the smallest %s have no page: there are too many", "package")
	for _, p := range list[:min(len(list), mostPages)] {
		p.page = true
	}
	slices.SortFunc(list, func(a, b *part) int { return strings.Compare(a.path, b.path) })
	return list
}
