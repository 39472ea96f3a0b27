package insight

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Answer is a model's description of a repository.
type Answer struct {
	Purpose  string    `json:"purpose" jsonschema:"one sentence of at most 30 words: what the project is, and what for"`
	Concepts []Concept `json:"concepts" jsonschema:"3 to 8 terms of the project's own that its users must know"`
	Sections []Section `json:"sections" jsonschema:"for each section of the list of files: what is found there"`
	Remember []string  `json:"remember" jsonschema:"2 to 6 things that users must not forget, each one short sentence"`
	Notes    []Note    `json:"notes" jsonschema:"for each shown file that is listed with no note: what the file says or does, in at most 25 words"`
}

// Concept is a term of the project's own.
type Concept struct {
	Name    string `json:"name" jsonschema:"the term as the project writes it"`
	Meaning string `json:"meaning" jsonschema:"one short sentence"`
}

// Section describes the files of a section.
type Section struct {
	Name string `json:"name" jsonschema:"of the section, as it is listed"`
	Note string `json:"note" jsonschema:"one short sentence"`
}

// Note describes a file.
type Note struct {
	Path string `json:"path" jsonschema:"of the file, as it is listed"`
	Note string `json:"note" jsonschema:"one short sentence"`
}

// Limits of an answer.
const (
	maxPurpose  = 300 // characters
	maxLine     = 200 // characters
	maxName     = 60  // characters
	maxConcepts = 8
	maxRemember = 6
	maxNotes    = 24
)

// Problems lists what the model must correct.
func (a *Answer) Problems() []string {
	switch purpose := strings.TrimSpace(a.Purpose); {
	case purpose == "":
		return []string{"at '/purpose': it is empty"}
	case utf8.RuneCountInString(purpose) > maxPurpose:
		return []string{fmt.Sprintf("at '/purpose': it is longer than %d characters; write one sentence", maxPurpose)}
	case len(addresses(purpose)) > 0:
		return []string{"at '/purpose': it holds an address; name none"}
	}
	return nil
}

// Text is one text of an answer, with the name of its stream.
type Text struct{ Stream, Text string }

// Texts returns the answer as texts with a line per item. [Live] streams the same texts.
func (a *Answer) Texts() []Text {
	var concepts, sections, notes []string
	for _, c := range a.Concepts {
		concepts = append(concepts, c.Name+": "+c.Meaning)
	}
	for _, s := range a.Sections {
		sections = append(sections, s.Name+": "+s.Note)
	}
	for _, n := range a.Notes {
		notes = append(notes, n.Path+": "+n.Note)
	}
	return []Text{{"purpose", a.Purpose}, {"concepts", strings.Join(concepts, "\n")},
		{"sections", strings.Join(sections, "\n")}, {"remember", strings.Join(a.Remember, "\n")},
		{"notes", strings.Join(notes, "\n")}}
}
