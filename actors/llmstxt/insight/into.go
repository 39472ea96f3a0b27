package insight

import (
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// SummaryFrom is the source in the index of a summary that a model wrote.
const SummaryFrom = "model"

// wordSection is the first word of a details line about a section.
const wordSection = "Section"

// Into returns the index with a clean answer in it; the original index does not change. room bounds the bytes of the
// lines in the details list. Lines without room are left out, the last first.
func (a Answer) Into(index *rank.Index, reason string, room int) *rank.Index {
	out := *index
	if a.Purpose != "" {
		out.Summary, out.SummaryFrom, out.SummaryReason = a.Purpose, SummaryFrom, reason
	}
	out.Facts = slices.Clone(index.Facts)
	for _, f := range a.facts() {
		if room -= len("- : \n") + len(f.Name) + len(f.Value); room < 0 {
			break
		}
		out.Facts = append(out.Facts, f)
	}
	out.Sections = a.noted(index.Sections)
	return &out
}

func (a Answer) facts() []rank.Fact {
	var list []rank.Fact
	for _, c := range a.Concepts {
		list = append(list, rank.Fact{Name: "Concept", Value: c.Name + ": " + c.Meaning})
	}
	for _, s := range a.Sections {
		list = append(list, rank.Fact{Name: wordSection, Value: s.Name + ": " + s.Note})
	}
	for _, said := range a.Remember {
		list = append(list, rank.Fact{Name: "Remember", Value: said})
	}
	return list
}

func (a Answer) noted(sections []rank.Section) []rank.Section {
	notes := map[string]string{}
	for _, n := range a.Notes {
		notes[n.Path] = n.Note
	}
	list := slices.Clone(sections)
	for i := range list {
		list[i].Links = slices.Clone(list[i].Links)
		for j := range list[i].Links {
			l := &list[i].Links[j]
			if note := notes[l.Path]; l.Note == "" && note != "" {
				l.Note, l.Reasons = note, append(slices.Clone(l.Reasons), "note by the model")
			}
		}
	}
	return list
}

// Pruned returns the index without lines about sections that it no longer has.
func Pruned(index *rank.Index) *rank.Index {
	out := *index
	out.Facts = slices.DeleteFunc(slices.Clone(index.Facts), func(f rank.Fact) bool {
		name, _, _ := strings.Cut(f.Value, ":")
		of := func(s rank.Section) bool { return s.Name == name }
		return f.Name == wordSection && !slices.ContainsFunc(index.Sections, of)
	})
	return &out
}
