package rank

// Purpose is the summary that a README alone gives.
func Purpose(path, text string) (title, summary string) {
	p := readPage(path, text)
	switch {
	case p.lead != "":
		return p.title, opening(p.lead)
	case len(p.prose) > 0:
		return p.title, opening(p.prose[0])
	}
	return p.title, ""
}

// Sentence, Note and Licence are what notes and facts are made by.
func Sentence(s string) string      { return sentence(s) }
func Note(path, text string) string { return sourceNote(path, text) }
func Licence(text string) string    { return licenceOf(text) }
