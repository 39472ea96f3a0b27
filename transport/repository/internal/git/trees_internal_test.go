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
		{700, 1, "512"}, {2000, 2, "512"}, {3, 20, ""}, {maxDepth, 1, ""},
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

// FuzzRest holds the splitting of ref and folder to what it promises: the ref is
// there, ref and folder are what was given, and no longer ref would have done.
func FuzzRest(f *testing.F) {
	for _, seed := range [][2]string{
		{"main\nfeature/x\nfeature/x/docs", "feature/x/docs/guide"}, {"a\na/b", "a/b/c"}, {"", "main"}, {"main", "main/../x"},
		{"..", "../x"}, {"-x\n--upload-pack=y", "--upload-pack=y/z"}, {"main", "//main//"}, {"a", "a\x00/b"},
		{"", strings.Repeat("ab", 20) + "/docs"}, {"HEAD", "HEAD/x"}, {"refs/heads/x", "refs/heads/x/y"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, names, rest string) {
		r := &refs{names: map[string]plumbing.Hash{}}
		for i, name := range strings.Split(names, "\n") {
			r.names[[]string{"refs/heads/", "refs/tags/"}[i%2]+name] = plumbing.NewHash("01")
		}
		head, err := r.resolve(Remote{Rest: rest})
		if err != nil {
			return
		}
		rest = strings.Trim(rest, "/")
		if head.Ref == "" {
			if id, _, _ := strings.Cut(rest, "/"); !strings.EqualFold(id, head.Commit) {
				t.Errorf("%q became commit %s", rest, head.Commit)
			}
			return
		}
		ref := head.Ref
		for _, space := range []string{"refs/heads/", "refs/tags/"} { // the full name is a ref, too
			if strings.HasPrefix(rest, space+ref) {
				ref = space + ref
			}
		}
		if got := strings.Trim(strings.TrimPrefix(rest, ref), "/"); !strings.HasPrefix(rest, ref) || got != head.Dir {
			t.Fatalf("%q became %+v", rest, *head)
		}
		for part := range strings.SplitSeq(head.Dir, "/") {
			ref += "/" + part
			if _, ok := r.find(ref); ok && head.Dir != "" {
				t.Errorf("%q became %+v, though %q is a ref", rest, *head, ref)
			}
		}
	})
}
