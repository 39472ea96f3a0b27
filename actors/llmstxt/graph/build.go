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

// What a graph holds at most.
const (
	mostPages    = 2_000
	mostPackages = 20_000
	mostExternal = 5_000
	mostEdges    = 100_000
)

// Graph is a repository's packages, ready to be written.
type Graph struct {
	Document
	parts map[string]*part // by id
	line  func(string) string
}

// Options of Build; its zero value works.
type Options struct {
	// Title is that of the repository; its name if empty.
	Title string
	// Go runs f beside the caller, which then has several packages read at a time. It may be nil.
	Go func(f func(ctx context.Context) error)
	// Progress, which may be nil, hears how many of how many packages are read.
	Progress func(done, total int)
}

// Build makes the graph of what the survey, which is that of an index of the repository, knows. The only error is
// ctx's cause: a file that can no longer be read is passed over. It and what it returns are for one goroutine at a
// time.
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

// fact says what n things miss; nothing of none.
func (g *Graph) fact(n int, format, thing string) {
	if n > 0 {
		g.Facts = append(g.Facts, fmt.Sprintf(format, words.Count(n, thing)))
	}
}

// bounded keeps the largest packages and chooses those that get a page.
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
