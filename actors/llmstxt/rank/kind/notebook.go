package kind

import (
	"path"
	"regexp"
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
	found := Found{Why: "an answer, a draft, a translation or another version of a notebook, or one too many"}
	seen := map[string]bool{}
	for _, p := range list {
		name := strings.ToLower(p)
		if prose.ContainsAny(name, "solution", "answer", "untitled") || seen[path.Base(name)] ||
			isTranslation(p, list) || len(found.Links) == mostNotebooks {
			found.Aside = append(found.Aside, p)
			continue
		}
		seen[path.Base(name)] = true
		found.add("Notebooks", p, "", "a notebook, in their order")
	}
	return found
}

var languageFolder = regexp.MustCompile(`/[a-z]{2}(?:[-_][A-Za-z]{2,4})?/`)

// isTranslation holds below a folder de where notebooks lie below a folder en beside it.
func isTranslation(p string, list []string) bool {
	at := languageFolder.FindStringIndex("/" + p)
	if at == nil {
		return false
	}
	english := ("/" + p)[:at[0]] + "/en/"
	return !strings.HasPrefix("/"+p, english) &&
		slices.ContainsFunc(list, func(other string) bool { return strings.HasPrefix("/"+other, english) })
}
