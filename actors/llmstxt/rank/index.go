package rank

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

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
	Kinds       []string // such as "a book"; none for a library or a program
	Facts       []Fact
	Sections    []Section // none empty, Optional last
	Origin      scan.Origin
	Passed      []Passed // the best of what was not chosen, at most 50
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

// Section is a list of links under a name of one word, unique in the Index.
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
	Caps Caps
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

// Caps bounds what Build takes in; a zero field takes its default.
type Caps struct {
	PerSection int // links of a section, default 20
	Links      int // links in all, default 100
}

func (c Caps) withDefaults() Caps {
	return Caps{PerSection: cmp.Or(max(c.PerSection, 0), 20), Links: cmp.Or(max(c.Links, 0), 100)}
}

// Build ranks the files of repo and reads what it needs of them through files: the heads of the likeliest documents
// and sources first, the public surface only of what is listed in the end. progress, which may be nil, hears how many
// of how many links are written up. The only error is ctx's cause: a file that can no longer be read is passed over.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, options Options, progress func(done,
	total int)) (*Index, error) {
	v := newSurvey(ctx, files, repo, options)
	defer v.reader.Close()
	index := &Index{Origin: repo.Origin, Title: v.title(), Facts: v.facts(), Survey: v.surveyed()}
	j := &judge{survey: v, written: make(map[string]int)}
	sources := &sourceJudge{judge: j, declared: make(map[string]map[string]bool),
		best: make(map[*unit]*sourceFile), leads: v.leads(),
		includes: slices.ContainsFunc(v.repo.Files, func(f scan.File) bool { return isIncluded(f.Path) })}
	sections := j.choose(&pageJudge{judge: j, crowds: make(map[string]int)}, sources)
	purpose := v.purpose()
	index.Summary, index.SummaryFrom, index.SummaryReason = purpose.text, purpose.from, purpose.reason
	index.SummaryPoor, index.Kinds, index.Readme = purpose.points < clearPoints, j.found, j.readme.Path
	j.writeUp(sections, progress)
	sources.addSymbols(sections)
	sources.api(sections)
	index.Sections, index.Passed = sections.finish(j), j.bestPassed()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return index, nil
}

// judge gives links their sections, points and notes. The judges of pages and of sources know what only they need.
type judge struct {
	*survey
	passed  []passed
	written map[string]int     // pages whose code has the name
	sidebar map[string]listing // of pages, in the tables of contents of sites
	found   []string           // kinds of repositories that it is of
}
