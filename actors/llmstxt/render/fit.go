package render

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Fit gives the index with as many links as an llms.txt of the budget's bytes can hold, and those that it cannot, the
// least important first. least is what title, summary and facts take alone: a budget below that holds nothing.
func Fit(index *rank.Index, budget int64) (fitting *rank.Index, dropped []rank.Link, least int64) {
	var front bytes.Buffer
	newView(index).front(&front)
	fitting = new(*index)
	for {
		var text bytes.Buffer
		_ = Txt(&text, fitting) // a buffer refuses nothing
		over := int64(text.Len()) - budget
		if over <= 0 || len(fitting.Sections) == 0 {
			return fitting, dropped, int64(front.Len())
		}
		var gone []rank.Link
		fitting.Sections, gone = dropLeast(fitting.Sections, over)
		dropped = append(dropped, gone...)
	}
}

// spot is where a link stands.
type spot struct{ section, link int }

// dropLeast takes at least one link away, and more until their lines come to so many bytes.
func dropLeast(sections []rank.Section, bytes int64) (kept []rank.Section, dropped []rank.Link) {
	gone := make(map[spot]bool)
	for _, at := range leastFirst(sections) {
		if bytes <= 0 {
			break
		}
		l := sections[at.section].Links[at.link]
		gone[at] = true
		dropped = append(dropped, l)
		bytes -= int64(len("- [](): \n") + len(l.Title) + len(l.URL) + len(l.Note))
	}
	for i, s := range sections {
		var links []rank.Link
		for j, l := range s.Links {
			if !gone[spot{i, j}] {
				links = append(links, l)
			}
		}
		if len(links) > 0 {
			kept = append(kept, rank.Section{Name: s.Name, Links: links})
		}
	}
	return kept, dropped
}

// leastFirst orders the links by importance: those of Optional before all others, later ones before earlier ones of
// the same score.
func leastFirst(sections []rank.Section) []spot {
	var spots []spot
	for i := len(sections) - 1; i >= 0; i-- {
		for j := len(sections[i].Links) - 1; j >= 0; j-- {
			spots = append(spots, spot{i, j})
		}
	}
	weight := func(at spot) int {
		if sections[at.section].Name == rank.Optional {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)),
			cmp.Compare(sections[a.section].Links[a.link].Score, sections[b.section].Links[b.link].Score))
	})
	return spots
}
