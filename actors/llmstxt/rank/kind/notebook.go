package kind

import (
	"path"
	"slices"
	"strings"
)

const mostNotebooks = 40

// notebooks lists them in the order of their names, which are numbered as a rule.
func notebooks(t Tree) Found {
	list := t.matching(func(p string) bool { return path.Ext(p) == ".ipynb" })
	if len(list) < 2 {
		return Found{}
	}
	slices.SortFunc(list, natural)
	found := Found{Why: "an answer or a draft, not the notebook itself"}
	for _, p := range list {
		name := strings.ToLower(p)
		switch {
		case strings.Contains(name, "solution"), strings.Contains(name, "answer"), strings.Contains(name, "untitled"):
			found.Aside = append(found.Aside, p)
		case len(found.Links) < mostNotebooks:
			found.Links = append(found.Links, Link{Path: p, Section: "Notebooks", Reason: "a notebook, in their order"})
		}
	}
	return found
}
