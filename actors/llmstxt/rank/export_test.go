package rank

import "github.com/seed889630bf/lastword/actors/llmstxt/prose"

// Purpose is the summary that a README alone gives.
func Purpose(path, text string) (title, summary string) {
	p := readPage(path, text)
	switch {
	case p.lead != "":
		return p.title, prose.Opening(p.lead)
	case len(p.prose) > 0:
		return p.title, prose.Opening(p.prose[0])
	}
	return p.title, ""
}

// Sentence, Note and Licence are what notes and facts are made by.
func Note(path, text string) string { return sourceNote(path, text) }
func Licence(text string) string    { return licenceOf(text) }
