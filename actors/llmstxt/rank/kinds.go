package rank

import (
	"path"
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/kind"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
)

// kinds puts what makes the repository of its kind, a book or an application, before what else there is, each file in
// the section that its kind has for it, and leaves out what is nothing for readers of such a repository.
func (j *judge) kinds(c choice) {
	for _, found := range kind.Find(kind.Tree{
		Files:   j.repo.Files,
		Library: j.product().Name != "",
		Read:    j.head,
		Targets: func(p, text string) []string {
			var list []string
			for _, target := range page.FeaturesOf(p, text).Targets {
				list = append(list, path.Join(path.Dir(p), target))
			}
			return list
		},
	}) {
		out := make(map[string]bool)
		for _, p := range found.Aside {
			j.passed.add(p, 1, found.Why)
			out[p] = true
		}
		first := make(choice)
		for i, l := range found.Links {
			x := &candidate{Link: Link{Path: l.Path, Title: l.Title, Note: l.Note}}
			x.add(max(420, 520-i), l.Reason)
			out[l.Path] = true
			first[l.Section] = append(first[l.Section], x)
		}
		for _, name := range sectionNames {
			rest := slices.DeleteFunc(c[name], func(x *candidate) bool { return out[x.Path] })
			c[name] = append(first[name], rest...)
		}
	}
}
