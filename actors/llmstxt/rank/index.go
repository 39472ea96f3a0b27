package rank

import (
	"context"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Index is the content of an llms.txt, as plain text without escaping.
type Index struct {
	Title       string
	Readme      string // path of the README; "" if there is none
	Summary     string // one or two sentences; "" if the repository does not describe itself
	SummaryFrom string // path of the file with the summary
	// SummaryReason says why that file was chosen.
	SummaryReason string
	// SummaryPoor: it is doubtful whether the summary says what the project is.
	SummaryPoor bool
	Facts       []Fact
	Sections    []Section // none is empty; Optional is last
	Origin      scan.Origin
	Passed      []Passed // files that were not chosen, at most 300
	Survey      Survey
}

// Passed is a file that was not chosen, with the reason.
type Passed struct {
	Path, Reason string
}

// Fact is one line about the repository, such as its module, languages or licence.
type Fact struct {
	Name, Value string
}

// Section is a list of links under a name that is unique in the Index.
type Section struct {
	Name  string
	Links []Link
}

// Optional is the name of the section that a reader with little room may skip.
const Optional = "Optional"

// Link points to one file.
type Link struct {
	Title string
	URL   string // pinned to the commit, or relative to the root if that is unknown
	Note  string // first sentence of the file; may be ""
	Path  string // path of the file, relative to the root
	// Score orders links by importance. It is only comparable within one Index.
	Score   int
	Reasons []string // short reasons for the score
	Symbols []Symbol // exported names of the file or its package, by line
}

// Symbol is an exported name, with its place.
type Symbol struct {
	surface.Symbol
	URL    string // with the line, in the form of the host
	weight int
}

// Options configure Build. The zero value is ready for use.
type Options struct {
	// Links bounds the number of links; 0 means 100.
	Links int
	// LinkStyle is "blob" for the host's pages or "raw" for the plain files; "" means "blob".
	LinkStyle string
	// Ref says what links point to; "" means RefBranch.
	Ref string
	// BaseURL is the prefix of links if nothing in the repository says where it is published, or if the form of links
	// at its host is unknown.
	BaseURL string
	// Go runs f concurrently, so that several files are parsed at a time. It may be nil.
	Go func(f func(ctx context.Context) error)
}

const mostLinks = 100
