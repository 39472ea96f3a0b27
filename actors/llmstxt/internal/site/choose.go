package site

import (
	"cmp"
	"slices"

	"github.com/seed889630bf/lastword/internal/stable"
)

// Place is a page in the navigation.
type Place struct {
	*Node
	Branch string // label of the branch of the navigation that the page is in; "" for pages above all branches
	Order  int    // place in the navigation, from 1
	Late   bool   // the page is one of many of its sort
}

const (
	fewBranches   = 6  // with fewer branches, large ones are opened
	largeBranch   = 12 // pages
	longGroup     = 20 // pages without children in a group that count as a separate list
	firstOfGroup  = 3  // pages of a long group that come with the others
	leastSubgroup = 2
)

// Ranked returns each page once, in the order in which pages deserve a link: breadth first, from all branches in turn.
// Breadth and fairness between branches predict what maintainers choose; names add nothing.
func (s *Site) Ranked() []Place {
	root := s.Root
	var top []*Node
	for len(root.Children) == 1 && len(root.Children[0].Children) > 0 {
		only := root.Children[0]
		if only.Page != "" {
			top = append(top, alone(only))
		}
		root.Children = only.Children
	}
	order := make(map[string]int)
	for i, page := range s.Pages() {
		order[page] = i + 1
	}
	var ranked, late []Place
	seen := make(map[string]bool)
	add := func(p Place) {
		if seen[p.Page] {
			return
		}
		seen[p.Page], p.Order = true, order[p.Page]
		if p.Late {
			late = append(late, p)
		} else {
			ranked = append(ranked, p)
		}
	}
	var branches [][]Place
	for _, b := range open(append(top, root.Children...)) {
		if len(b.Children) == 0 {
			if b.Page != "" {
				add(Place{Node: b})
			}
			continue
		}
		branches = append(branches, rounds(b))
	}
	for turn := 0; ; turn++ {
		more := false
		for _, b := range branches {
			if turn < len(b) {
				add(b[turn])
				more = true
			}
		}
		if !more {
			break
		}
	}
	stable.Sort(late, func(a, b Place) int { return a.Order - b.Order })
	return append(ranked, late...)
}

// alone returns the node without its children.
func alone(n *Node) *Node {
	only := *n
	only.Children = nil
	return &only
}

// open replaces large branches by what is in them, as a site does that shows its tabs' contents.
func open(branches []*Node) []*Node {
	for {
		groups, largest := 0, -1
		for i, b := range branches {
			if len(b.Children) == 0 {
				continue
			}
			groups++
			if b.size() > largeBranch && b.subgroups() >= leastSubgroup && (largest < 0 || b.size() > branches[largest].size()) {
				largest = i
			}
		}
		if groups >= fewBranches || largest < 0 {
			return branches
		}
		b := branches[largest]
		if groups > 2 && len(b.Children)-b.subgroups() > longGroup { // its pages would stand before all other branches
			return branches
		}
		inside := b.Children
		if b.Page != "" {
			inside = append([]*Node{alone(b)}, inside...)
		}
		branches = slices.Concat(branches[:largest], inside, branches[largest+1:])
	}
}

// size returns how many pages the node has, itself included.
func (n *Node) size() (pages int) {
	if n.Page != "" {
		pages = 1
	}
	for _, c := range n.Children {
		pages += c.size()
	}
	return pages
}

func (n *Node) subgroups() (groups int) {
	for _, c := range n.Children {
		if len(c.Children) > 0 {
			groups++
		}
	}
	return groups
}

// rounds returns the pages of a branch, the first round's first. A page's round is its depth and half its place
// among the pages of its group.
func rounds(branch *Node) []Place {
	type timed struct {
		Place
		round float64
	}
	var all []timed
	var walk func(n *Node, depth, place int, late bool)
	walk = func(n *Node, depth, place int, late bool) {
		if n.Page != "" {
			all = append(all, timed{Place{Node: n, Branch: branch.Label, Late: late}, float64(depth) + 0.5*float64(place)})
		}
		leaves := 0
		for _, c := range n.Children {
			if len(c.Children) == 0 {
				leaves++
			}
		}
		place = 0
		for _, c := range n.Children {
			if len(c.Children) > 0 {
				walk(c, depth+1, 0, false)
				continue
			}
			walk(c, depth+1, place, leaves > longGroup && place >= firstOfGroup)
			place++
		}
	}
	walk(branch, 0, 0, false)
	stable.Sort(all, func(a, b timed) int { return cmp.Compare(a.round, b.round) })
	places := make([]Place, len(all))
	for i, t := range all {
		places[i] = t.Place
	}
	return places
}
