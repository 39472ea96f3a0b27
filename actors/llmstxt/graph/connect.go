package graph

import (
	"cmp"
	"slices"
	"strings"
)

// link is an edge by its ends' ids.
type link struct {
	from, to string
	kind     Relation
}

// connect gives the nodes and the edges between them.
func (g *Graph) connect(ps *parts, list []*part) {
	taken := ids{}
	for _, p := range list {
		p.id = taken.of(p.path, g.line(p.path))
		g.parts[p.id] = p
		g.Nodes = append(g.Nodes, g.node(p))
	}
	r := newResolver(ps, list)
	weights := map[link]int{}
	outside := &outsiders{ids: taken, known: map[target]string{}, line: g.line}
	for _, p := range list {
		for _, f := range p.files {
			for t := range r.targets(f) {
				outside.add(weights, p, t, Imports)
			}
		}
		for t := range r.needs(p) {
			outside.add(weights, p, t, Depends)
		}
	}
	outside.settle(g, weights)
}

// needs is what the manifests of the package's folder name.
func (r *resolver) needs(p *part) map[target]bool {
	found := map[target]bool{}
	if p.unit == nil {
		return found
	}
	for _, m := range p.unit.Manifests {
		eco := ecosystem(m.Ecosystem)
		for _, name := range m.Dependencies {
			t := target{name: name, eco: eco}
			if in := r.byUnit[key(eco, foldName(name))]; in != nil {
				t = target{part: in}
			}
			if t.part != p {
				found[t] = true
			}
		}
	}
	return found
}

// outsiders collects what lies outside; ids come when all is known, in an order that does not depend on that of maps.
type outsiders struct {
	ids   ids
	known map[target]string
	pairs []pair
	line  func(string) string
}

type pair struct {
	from *part
	to   target
	kind Relation
}

func (o *outsiders) add(weights map[link]int, from *part, to target, kind Relation) {
	if to.part != nil {
		weights[link{from.id, to.part.id, kind}]++
		return
	}
	o.known[to] = ""
	o.pairs = append(o.pairs, pair{from, to, kind})
}

func (o *outsiders) settle(g *Graph, weights map[link]int) {
	var list []target
	for t := range o.known {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b target) int {
		return cmp.Or(strings.Compare(a.eco, b.eco), strings.Compare(a.name, b.name))
	})
	g.fact(max(0, len(list)-mostExternal), "%s left out: there are too many", "external package")
	var nodes []Node
	for _, t := range list[:min(len(list), mostExternal)] {
		shown := o.line(t.name)
		id := o.ids.external(t.eco, t.name, shown)
		o.known[t] = id
		nodes = append(nodes, Node{ID: id, Kind: External, Name: shown})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	g.Nodes = append(g.Nodes, nodes...)
	for _, p := range o.pairs {
		if id := o.known[p.to]; id != "" {
			weights[link{p.from.id, id, p.kind}]++
		}
	}
	g.takeEdges(weights)
}

// takeEdges keeps the heaviest where there are too many.
func (g *Graph) takeEdges(weights map[link]int) {
	for l, n := range weights {
		g.Edges = append(g.Edges, Edge{From: l.from, To: l.to, Kind: l.kind, Weight: n})
	}
	slices.SortFunc(g.Edges, compareEdges)
	if over := len(g.Edges) - mostEdges; over > 0 {
		slices.SortStableFunc(g.Edges, func(a, b Edge) int { return cmp.Compare(b.Weight, a.Weight) })
		g.Edges = g.Edges[:mostEdges]
		slices.SortFunc(g.Edges, compareEdges)
		g.fact(over, "the %s with the least weight left out: there are too many", "edge")
	}
}

func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
}

func (g *Graph) node(p *part) Node {
	return Node{ID: p.id, Kind: Package, Name: g.line(p.name), Path: g.line(p.path), Language: p.language,
		Summary: g.line(p.summary), Files: len(p.files), Bytes: p.bytes, Symbols: p.count, Page: p.page}
}

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
