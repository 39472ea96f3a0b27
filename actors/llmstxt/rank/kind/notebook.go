package kind

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

const mostNotebooks = 80

// notebooks lists them in the order of their names, which are numbered as a rule.
func notebooks(t Tree) Found {
	list := t.matching(func(p string) bool { return path.Ext(p) == ".ipynb" })
	if len(list) < 2 {
		return Found{}
	}
	slices.SortFunc(list, natural)
	found := Found{Why: "an answer, a draft, a translation or another version of a notebook, or one too many"}
	seen, translated := map[string]bool{}, translations(list)
	for _, p := range list {
		name := strings.ToLower(p)
		if prose.ContainsAny(name, "solution", "answer", "untitled") || seen[path.Base(name)] ||
			translated[p] || len(found.Links) == mostNotebooks {
			found.Aside = append(found.Aside, p)
			continue
		}
		seen[path.Base(name)] = true
		found.add("Notebooks", p, "", "a notebook, in their order")
	}
	return found
}

var languageFolder = regexp.MustCompile(`/[a-z]{2}(?:[-_][A-Za-z]{2,4})?/`)

// translations are those below a folder de where others lie below a folder en beside it.
func translations(list []string) map[string]bool {
	english, found := map[string]bool{}, map[string]bool{}
	for _, p := range list {
		if above, _, ok := strings.Cut("/"+p, "/en/"); ok {
			english[above] = true
		}
	}
	for _, p := range list {
		at := languageFolder.FindStringIndex("/" + p)
		if at != nil && english[("/" + p)[:at[0]]] && ("/" + p)[at[0]:at[1]] != "/en/" {
			found[p] = true
		}
	}
	return found
}
