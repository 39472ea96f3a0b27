package rank

import (
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
)

// Read gives what is read of a file on the way to its rank, as single lines.
func Read(p, text string) []string {
	read := page.Read(p, text)
	lines := []string{read.Title, prose.Opening(read.Lead), source.Note(scan.Language(p), text)}
	for _, t := range read.Prose {
		lines = append(lines, prose.Opening(t.Text))
	}
	source.Imports(scan.Language(p), text)
	page.MentionsIn(text).Path(p)
	namesIn(text)
	page.FeaturesOf(p, text)
	return lines
}
