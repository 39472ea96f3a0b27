package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/messages"
)

// counted tells how many objects are read.
type counted struct {
	*pack
	reads int
}

func (c *counted) read(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	c.reads++
	return c.pack.read(kind, h)
}

// Trees that expand without end are refused once each was looked at, not after they were expanded.
func TestTreesAreMeasuredBeforeTheyAreListed(t *testing.T) {
	for _, c := range []struct {
		levels, each int
		says         string
	}{
		{60, 2, "--max-files"},    // 2^60 entries
		{20, 1000, "--max-files"}, // and more than fit into any number
		{700, 1, "512"},
		{2000, 2, "512"},
		{3, 20, ""},
		{maxDepth, 1, ""},
	} {
		var p packer
		_, file := p.object(plumbing.BlobObject, "x")
		mode, inner := "100644", file
		for range c.levels {
			var text strings.Builder
			for i := range c.each {
				fmt.Fprintf(&text, "%s %06d\x00%s", mode, i, inner[:])
			}
			_, inner = p.object(plumbing.TreeObject, text.String())
			mode = "40000"
		}
		_, commit := p.object(plumbing.CommitObject, fmt.Sprintf("tree %s\nauthor a <a> 1 +0000\n\nx\n", inner))
		got, err := unpackAll(p.pack(), Limits{})
		must(t, err)
		from := &counted{pack: got}
		_, _, err = list(t.Context(), from, commit, "", Limits{}.orDefaults())
		if c.says == "" {
			if err != nil {
				t.Errorf("%d levels of %d: %v", c.levels, c.each, err)
			}
			continue
		}
		if messages.CodeOf(err) != messages.CauseLimitExceeded || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d levels of %d: %v", c.levels, c.each, err)
		}
		if from.reads > c.levels+3 {
			t.Errorf("%d levels of %d: %d objects are read before it is refused", c.levels, c.each, from.reads)
		}
	}
}
