package rank

import (
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// Purpose is the summary that a README alone gives.
func Purpose(path, text string) (title, summary string) {
	p := page.Read(path, text)
	switch {
	case p.Lead != "":
		return p.Title, prose.Opening(p.Lead)
	case len(p.Prose) > 0:
		return p.Title, prose.Opening(p.Prose[0].Text)
	}
	return p.Title, ""
}

// Read gives the headings that a quick look finds, after all that is read of a file on the way to its rank.
func Read(path, text string) []string {
	Imports(scan.Language(path), text)
	page.MentionsIn(text).Path(path)
	declarations(text)
	f := page.FeaturesOf(path, text)
	d := &document{Features: f}
	d.Path = path
	byTitle(d)
	byShape(d)
	byHeadings(d)
	formal(d)
	return f.Headings
}

// Note and Licence are what notes and facts are made by.
func Note(path, text string) string { return SourceNote(path, text) }
func Licence(text string) string    { return page.LicenceOf(text) }
