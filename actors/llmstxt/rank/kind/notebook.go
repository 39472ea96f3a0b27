package kind

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

const mostNotebooks = 80

// notebooks lists them in the order of their names, which are numbered as a rule.
func notebooks(t Tree) Found {
	list := t.matching(func(p string) bool { return path.Ext(p) == ".ipynb" })
	if len(list) < 2 {
		return Found{}
	}
	slices.SortFunc(list, natural)
	found := Found{Why: "an answer, a draft or another version of a notebook, or one too many"}
	seen := map[string]bool{}
	for _, p := range list {
		name := strings.ToLower(p)
		if prose.ContainsAny(name, "solution", "answer", "untitled") || seen[path.Base(name)] ||
			len(found.Links) == mostNotebooks {
			found.Aside = append(found.Aside, p)
			continue
		}
		seen[path.Base(name)] = true
		found.add("Notebooks", p, "", "a notebook, in their order")
	}
	return found
}
