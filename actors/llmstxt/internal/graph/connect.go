package graph

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/resolve"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
)

// link is an edge between packages, or from a package to something outside.
type link struct {
	from, to *part
	outside  resolve.Target // used if to is nil
	kind     Relation
}

// links holds edges with their weights.
type links map[link]int

// connect makes the nodes and the edges between them.
func (g *Graph) connect(imports *resolve.Resolver, list []*part) {
	taken := ids{}
	for _, p := range list {
		p.id = taken.of(p.path, g.line(p.path))
		g.parts[p.id] = p
		g.Nodes = append(g.Nodes, Node{ID: p.id, Kind: Package, Name: g.line(p.name), Path: g.line(p.path), Language: p.language,
			Summary: g.line(p.summary), Files: len(p.files), Bytes: p.bytes, Symbols: p.count, Page: p.page})
	}
	places := placesOf(list)
	found := links{}
	for _, p := range list {
		for _, f := range p.files {
			found.add(p, Imports, places, imports.Targets(f.File, slices.Concat(f.specs, f.Imports)))
		}
		if p.unit != nil {
			found.add(p, Depends, places, imports.Needed(p.unit.Manifests))
		}
	}
	g.keepHeaviest(found, g.addOutside(taken, found))
}

// add counts what a file, or the manifests of a folder, need. It counts each target once.
func (found links) add(from *part, kind Relation, places map[string]*part, targets iter.Seq[resolve.Target]) {
	known := map[link]bool{}
	for t := range targets {
		to := places[t.Path]
		if to == from || to == nil && t.Path != "" {
			continue
		}
		t.Path = ""
		if l := (link{from, to, t, kind}); !known[l] {
			known[l] = true
			found[l]++
		}
	}
}

// placesOf returns the package of each file and folder.
func placesOf(list []*part) map[string]*part {
	places := map[string]*part{}
	for _, p := range list {
		places[p.path] = p
	}
	for _, p := range list {
		for _, f := range p.files {
			places[f.Path] = p
			if dir := path.Dir(f.Path); places[dir] == nil {
				places[dir] = p
			}
		}
	}
	return places
}

// addOutside makes nodes for what lies outside, in an order that does not depend on map iteration, and returns their
// ids.
func (g *Graph) addOutside(taken ids, found links) map[resolve.Target]string {
	known := map[resolve.Target]string{}
	for l := range found {
		if l.to == nil {
			known[l.outside] = ""
		}
	}
	list := stable.Sorted(maps.Keys(known), func(a, b resolve.Target) int {
		return cmp.Or(strings.Compare(a.Ecosystem, b.Ecosystem), strings.Compare(a.Name, b.Name))
	})
	g.fact(max(0, len(list)-mostExternal), "%s left out: there are too many", "external package")
	var nodes []Node
	for _, t := range list[:min(len(list), mostExternal)] {
		shown, in := g.line(t.Name), "ext."+t.Ecosystem+"/"
		known[t] = taken.of(in+t.Name, in+shown)
		nodes = append(nodes, Node{ID: known[t], Kind: External, Name: shown})
	}
	stable.Sort(nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	g.Nodes = append(g.Nodes, nodes...)
	return known
}

// keepHeaviest keeps the heaviest edges if there are too many.
func (g *Graph) keepHeaviest(found links, outside map[resolve.Target]string) {
	for l, n := range found {
		e := Edge{From: l.from.id, To: outside[l.outside], Kind: l.kind, Weight: n}
		if l.to != nil {
			e.To = l.to.id
		}
		if e.To != "" {
			g.Edges = append(g.Edges, e)
		}
	}
	stable.Sort(g.Edges, compareEdges)
	if over := len(g.Edges) - mostEdges; over > 0 {
		stable.Sort(g.Edges, func(a, b Edge) int { return cmp.Compare(b.Weight, a.Weight) })
		g.Edges = g.Edges[:mostEdges]
		stable.Sort(g.Edges, compareEdges)
		g.fact(over, "the %s with the least weight left out: there are too many", "edge")
	}
}

func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}

// count sums the nodes and edges up. Of nodes outside the repository it counts the number alone.
func (g *Graph) count() Stats {
	var s Stats
	for _, n := range g.Nodes {
		if n.Kind == External {
			s.External++
			continue
		}
		s.Packages++
		s.Files += n.Files
		s.Bytes += n.Bytes
		s.Symbols += n.Symbols
		if n.Page {
			s.Pages++
		}
	}
	for _, e := range g.Edges {
		if e.Kind == Imports {
			s.Imports++
		} else {
			s.Depends++
		}
	}
	return s
}

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

// Build makes the graph. survey must be the one that the index was made from. The only error is the cause of
// ctx: a file that can no longer be read is skipped.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, survey rank.Survey, o Options) (*Graph, error) {
	ps := newParts(repo, survey)
	g := &Graph{parts: map[string]*part{}, line: sanitize.Liner()}
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
	stable.Sort(list, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), strings.Compare(a.path, b.path))
	})
	dropped := max(0, len(list)-mostPackages)
	g.fact(dropped, "the smallest %s left out: there are too many", "package")
	list = list[:len(list)-dropped]
	g.fact(max(0, len(list)-mostPages), "the smallest %s have no page: there are too many", "package")
	for _, p := range list[:min(len(list), mostPages)] {
		p.page = true
	}
	stable.Sort(list, func(a, b *part) int { return strings.Compare(a.path, b.path) })
	return list
}
