package rank

import (
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// Purpose is the summary that a README alone gives.
func Purpose(path, text string) (title, summary string) {
	p := new(builder).readPage(path, text)
	switch {
	case p.lead != "":
		return p.title, prose.Opening(p.lead)
	case len(p.prose) > 0:
		return p.title, prose.Opening(p.prose[0].text)
	}
	return p.title, ""
}

// Read gives the headings that a quick look finds, after all that is read of a file on the way to its rank.
func Read(path, text string) []string {
	Imports(scan.Language(path), text)
	mentionsIn(text).path(path)
	declarations(text)
	f := featuresOf(path, text)
	d := &document{features: f}
	d.Path = path
	byTitle(d)
	byShape(d)
	byHeadings(d)
	formal(d)
	return f.headings
}

// Note and Licence are what notes and facts are made by.
func Note(path, text string) string { return SourceNote(path, text) }
func Licence(text string) string    { return licenceOf(text) }
