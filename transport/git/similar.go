package git

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages/words"
)

// like names up to five branches and tags that resemble what was asked for, or
// the default branch, as the end of a sentence.
func (r *refs) like(asked string) string {
	near := r.similar(asked)
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

func (r *refs) similar(asked string) []string {
	const most = 5
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	asked = start(strings.ToLower(asked))
	for full := range r.names {
		name := short(full)
		if name == full {
			continue // neither a branch nor a tag
		}
		if far, ok := distance(asked, start(strings.ToLower(name))); ok {
			near = append(near, candidate{name, far})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int { return cmp.Or(a.far-b.far, cmp.Compare(a.name, b.name)) })
	var names []string
	for _, c := range near {
		names = append(names, c.name)
	}
	names = slices.Compact(names)
	return names[:min(len(names), most)]
}

// distance is small for names that one may have meant by the other.
func distance(a, b string) (int, bool) {
	far := words.Distance(a, b)
	if far <= max(2, len(b)/3) {
		return far, true
	}
	return far, strings.Contains(b, a) || strings.HasPrefix(a, b+"/")
}

// start bounds the cost of comparing names.
func start(name string) string { return name[:min(len(name), 64)] }
