package render

import (
	"bytes"
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Fit returns the index with as many links as an llms.txt within the budget can hold. dropped has the other links, in
// the order in which they were dropped. least is the size of title, summary and facts alone: a smaller budget is too
// small.
func Fit(index *rank.Index, budget int64) (fitting *rank.Index, dropped []rank.Link, least int64) {
	least = int64(len(newCleaned(index).front()))
	fitting = new(*index)
	for {
		var text bytes.Buffer
		_ = Txt(&text, fitting) // writing to a buffer never fails
		over := int64(text.Len()) - budget
		if over <= 0 || len(fitting.Sections) == 0 {
			return fitting, dropped, least
		}
		for over > 0 && len(fitting.Sections) > 0 {
			for _, l := range dropLeast(fitting) {
				dropped = append(dropped, l)
				over -= int64(len("- [](): \n") + len(l.Title) + len(l.URL) + len(l.Note))
			}
		}
	}
}

// dropLeast removes the least important link of the longest section, and the section if it is then empty. It takes
// links of Optional, which say how to work on the project, only when there are no others.
func dropLeast(index *rank.Index) []rank.Link {
	section := 0
	for i, s := range index.Sections {
		longest := index.Sections[section]
		if s.Name != rank.Optional && (longest.Name == rank.Optional || len(s.Links) >= len(longest.Links)) {
			section = i
		}
	}
	all, links := index.Sections, index.Sections[section].Links
	if len(links) < 2 {
		index.Sections = slices.Concat(all[:section], all[section+1:])
		return links
	}
	link := 0
	for j, l := range links {
		if l.Score <= links[link].Score {
			link = j
		}
	}
	index.Sections = slices.Clone(all)
	index.Sections[section].Links = slices.Concat(links[:link], links[link+1:])
	return links[link : link+1]
}
