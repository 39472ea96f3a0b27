package rank

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// candidate is a file that may be linked.
type candidate struct {
	Link
	outline surface.Outline // of what is parsed
	size    int64
	kind    surface.Kind // of what a link of the API leads to
	used    bool         // by the README's code
	exposed bool         // what the package shows at its entrance holds the file whole
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

// passed is what was not chosen.
type passed struct {
	Passed
	score int
}

func (j *judge) pass(path string, score int, reason string) {
	j.passed = append(j.passed, passed{Passed{Path: path, Reason: reason}, score})
}

func (j *judge) bestPassed() (best []Passed) {
	slices.SortStableFunc(j.passed, func(x, y passed) int {
		return cmp.Or(cmp.Compare(y.score, x.score), strings.Compare(x.Path, y.Path))
	})
	seen := make(map[string]bool)
	for _, x := range j.passed {
		if len(best) < mostPassed && !seen[x.Path] {
			seen[x.Path] = true
			best = append(best, x.Passed)
		}
	}
	return best
}
