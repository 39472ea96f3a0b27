package git

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

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
