package rank

import (
	"path"
	"strings"
)

// pageIndex holds the paths of pages.
type pageIndex map[string]bool

func newPageIndex(items []*item) pageIndex {
	x := make(pageIndex)
	for _, i := range items {
		if i.class == classPage {
			x[i.Path] = true
		}
	}
	return x
}

// find returns the page that a text in a file of the folder refers to, or "".
func (x pageIndex) find(dir, target string) string {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if _, below, remote := strings.Cut(target, "://"); remote {
		dir = "."
		_, target, _ = strings.Cut(below, "/")
	}
	for _, p := range []string{path.Join(dir, target), strings.TrimLeft(path.Clean("/"+target), "/")} {
		if x[p] && target != "" {
			return p
		}
	}
	return ""
}

// count counts the pages of each group.
func (r *ranking) count() {
	groups := make(map[string]int)
	for _, x := range r.items {
		if x.listed > 0 {
			groups[x.group]++
		}
	}
	for _, x := range r.items {
		x.pages = groups[x.group]
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
