package git

import (
	"cmp"
	"encoding/hex"
	"io/fs"
	"maps"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// refs are the refs of a repository. Names from users are only compared with them, never used as paths.
type refs struct {
	head   plumbing.Hash            // zero if HEAD names a branch without commits
	main   string                   // the short name of the branch that HEAD names, or ""
	names  map[string]plumbing.Hash // by full name
	peeled map[string]plumbing.Hash // the objects that annotated tags point to
}

// advertised returns the refs that a server has sent.
func advertised(adv *packp.AdvRefs) *refs {
	r := &refs{names: adv.References, peeled: adv.Peeled}
	if adv.Head != nil {
		r.head = *adv.Head
	}
	for _, link := range adv.Capabilities.Get(capability.SymRef) {
		if target, found := strings.CutPrefix(link, "HEAD:"); found {
			r.main = short(target)
		}
	}
	return r
}

// resolve returns the commit that the remote's Ref and Rest refer to.
func (r *refs) resolve(remote Remote) (*Head, error) {
	switch {
	case remote.Ref != "":
		return r.byRef(remote.Ref)
	case strings.Trim(remote.Rest, "/") != "":
		return r.byRest(strings.Trim(remote.Rest, "/"))
	}
	if r.head.IsZero() {
		return nil, messages.InvalidInput("the repository has no default branch; name one%s", r.suggest(""))
	}
	return &Head{Commit: r.head.String(), Ref: r.main}, nil
}

// byRef finds a branch, a tag or a commit with all its digits.
func (r *refs) byRef(ref string) (*Head, error) {
	if h, ok := r.find(ref); ok {
		return h, nil
	}
	if id, ok := commitID(ref); ok {
		return &Head{Commit: id.String()}, nil
	}
	return nil, messages.InvalidInput("there is no branch, tag or commit %.100q; commits need all 40 digits%s", ref, r.suggest(ref))
}

// byRest tries the longest possible name first. git forbids branches "a" and "a/b" at the same time, but allows a
// branch and a tag.
func (r *refs) byRest(rest string) (*Head, error) {
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '/') {
		if h, ok := r.find(rest[:end]); ok {
			return h.below(rest[end:])
		}
	}
	first, dir, _ := strings.Cut(rest, "/")
	if id, ok := commitID(first); ok {
		return (&Head{Commit: id.String()}).below(dir)
	}
	return nil, messages.InvalidInput("%.100q begins with no branch, tag or commit; commits need all 40 digits%s", rest, r.suggest(rest))
}

// below sets the folder of the head.
func (h *Head) below(dir string) (*Head, error) {
	h.Dir = strings.Trim(dir, "/")
	if h.Dir != "" && !fs.ValidPath(h.Dir) {
		return nil, messages.InvalidInput("%.200q is not a folder's path", h.Dir)
	}
	return h, nil
}

// find looks for a branch, then for a tag, as git clone does.
func (r *refs) find(name string) (*Head, bool) {
	if name == "HEAD" && !r.head.IsZero() {
		return &Head{Commit: r.head.String(), Ref: r.main}, true
	}
	for _, space := range []string{"refs/heads/", "refs/tags/", ""} {
		full := space + name
		if !strings.HasPrefix(full, "refs/") {
			continue
		}
		if id, ok := r.peeled[full]; ok {
			return &Head{Commit: id.String(), Ref: short(full)}, true
		}
		if id, ok := r.names[full]; ok {
			return &Head{Commit: id.String(), Ref: short(full)}, true
		}
	}
	return nil, false
}

// short returns the name of a branch or tag as people write it.
func short(name string) string {
	if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return branch
	}
	return strings.TrimPrefix(name, "refs/tags/")
}

// commitID parses the full hash of a commit.
func commitID(text string) (plumbing.Hash, bool) {
	var id plumbing.Hash
	if len(text) != hex.EncodedLen(len(id)) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil && !id.IsZero()
}

// suggest returns the end of a sentence, with up to five branches and tags of similar names, or with the default
// branch.
func (r *refs) suggest(requested string) string {
	near := r.similar(requested)
	if len(near) == 0 && r.main != "" {
		near = []string{r.main}
	}
	if len(near) == 0 {
		return ""
	}
	for i, name := range near {
		near[i] = strconv.Quote(words.Clip(name, 100))
	}
	return "; there is " + strings.Join(near, ", ")
}

// similar returns the names of branches and tags that the user may have meant, the best first.
func (r *refs) similar(requested string) []string {
	const most = 5
	near := map[string]int{}
	requested = start(strings.ToLower(requested))
	for full := range r.names {
		name := short(full)
		if far, ok := distance(requested, start(strings.ToLower(name))); ok && name != full { // a branch or a tag
			near[name] = far
		}
	}
	names := stable.Sorted(maps.Keys(near), func(a, b string) int { return cmp.Or(near[a]-near[b], cmp.Compare(a, b)) })
	return names[:min(len(names), most)]
}

// distance returns the edit distance of two names, and whether one may be a misspelling of the other.
func distance(a, b string) (int, bool) {
	far := words.Distance(a, b)
	if far <= max(2, len(b)/3) {
		return far, true
	}
	return far, strings.Contains(b, a) || strings.HasPrefix(a, b+"/")
}

// start cuts a name, which limits the cost of comparing it.
func start(name string) string { return name[:min(len(name), 64)] }
