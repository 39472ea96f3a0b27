package rank

import (
	"context"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Index is the content of an llms.txt, as plain text that is yet to be escaped.
type Index struct {
	Title       string
	Readme      string // its path; "" if there is none
	Summary     string // one or two sentences; "" when the repository says nothing of itself
	SummaryFrom string // path of the file that the summary was taken from
	// SummaryReason says why that file and not another.
	SummaryReason string
	// SummaryPoor: little shows that the summary says what the project is.
	SummaryPoor bool
	Facts       []Fact
	Sections    []Section // none empty, Optional last
	Origin      scan.Origin
	Passed      []Passed // what was not chosen, at most 300
	Survey      Survey
}

// Passed is a file that was not chosen, and why.
type Passed struct {
	Path, Reason string
}

// Fact is one line about the repository: its module, languages, licence.
type Fact struct {
	Name, Value string
}

// Section is a list of links under a name that is unique in the Index.
type Section struct {
	Name  string
	Links []Link
}

// Optional is the name of the section that a reader short of room may skip.
const Optional = "Optional"

// Link points to one file.
type Link struct {
	Title string
	URL   string // pinned to the commit, or relative to the root where that is unknown
	Note  string // first sentence of the file; may be empty
	Path  string // the file, relative to the root
	// Score orders links by importance; only comparisons within an Index mean something.
	Score   int
	Reasons []string // for the score, short
	Symbols []Symbol // what the file or its package offers, by line
}

// Symbol is an exported name and where it is declared.
type Symbol struct {
	surface.Symbol
	URL    string // with the line, in the manner of the host
	weight int
}

// Options of Build; its zero value works.
type Options struct {
	// Links is how many there may be at most; 100 if zero.
	Links int
	// LinkStyle is "blob" for the host's pages or "raw" for the bare files; "blob" if empty.
	LinkStyle string
	// Ref says what links lead to: RefBranch if empty.
	Ref string
	// BaseURL is what links begin with where nothing in the repository says where it is published, or the host that
	// does has no form of links that is known.
	BaseURL string
	// Go runs f beside the caller, which then parses several files at a time. It may be nil.
	Go func(f func(ctx context.Context) error)
}

const mostLinks = 100
