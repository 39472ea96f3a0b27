package rank

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// candidate is a file that may be linked.
type candidate struct {
	Link
	size       int64
	weights    []int        // of its symbols, until they are sorted by line
	kind       surface.Kind // of what a link of the API leads to
	used       bool         // by the README's code
	deprecated bool
	exposed    bool // what the package shows at its entrance holds the file whole
}

func (c *candidate) add(points int, reason string) {
	c.Score += points
	if reason != "" && points > 0 && !slices.Contains(c.Reasons, reason) {
		c.Reasons = append(c.Reasons, reason)
	}
}

// grow adds points for each time that n doubles.
func (c *candidate) grow(n, points, most int, reason string) {
	if n > 0 {
		c.add(min(most, points*bits.Len(uint(n))), reason)
	}
}

// standing is the reason for a file that nothing in particular speaks for; others is whether one of its folder is
// listed before it.
func (c *candidate) standing(others bool) string {
	switch {
	case !others:
		return "the best of its folder"
	case depth(c.Path) < 2:
		return "near the root"
	}
	return "code of the product, by its size and place"
}

// byScore orders the best first; what scores the same goes by depth and name.
func byScore(x, y *candidate) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(depth(x.Path), depth(y.Path)), strings.Compare(x.Path,
		y.Path))
}

// compareBy orders paths by rank, then by depth, then by name.
func compareBy(rank func(string) int) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
	}
}

const mostPassed = 50

// passedOver keeps what was not chosen.
type passedOver struct{ list []passed }

type passed struct {
	Passed
	score int
}

func (p *passedOver) add(path string, score int, reason string) {
	p.list = append(p.list, passed{Passed{Path: path, Reason: reason}, score})
}

func (p *passedOver) best() []Passed {
	slices.SortStableFunc(p.list, func(x, y passed) int {
		return cmp.Or(cmp.Compare(y.score, x.score), strings.Compare(x.Path, y.Path))
	})
	var best []Passed
	seen := make(map[string]bool)
	for _, x := range p.list {
		if len(best) < mostPassed && !seen[x.Path] {
			seen[x.Path] = true
			best = append(best, x.Passed)
		}
	}
	return best
}
