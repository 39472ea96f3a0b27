package render

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
)

// cleaned is an index ready for any of the formats: clean single lines without secrets, nothing empty, unique names.
// Each format does its own escaping.
type cleaned struct {
	title    string
	summary  string
	details  []string
	sections []Section
}

func newCleaned(index *rank.Index) cleaned {
	line := shown.Liner()
	v := cleaned{title: cmp.Or(line(index.Title), "Untitled"), summary: line(index.Summary),
		sections: sections(index, line)}
	for _, f := range index.Facts {
		if name, value := line(f.Name), line(f.Value); name != "" && value != "" {
			v.details = append(v.details, name+": "+value)
		}
	}
	if len(v.details) == 0 {
		v.details = []string{"Links lead to files of the repository."}
	}
	return v
}

// sections leaves out links without a URL, and sections without links.
func sections(index *rank.Index, line func(string) string) []Section {
	list, names := []Section{}, []string{}
	for _, s := range index.Sections {
		var links []Link
		for _, l := range s.Links {
			if url := linkURL(l.URL); url != "" {
				links = append(links, newLink(l, url, line))
			}
		}
		if len(links) > 0 {
			names = append(names, s.Name)
			list = append(list, Section{Links: links})
		}
	}
	for i, name := range sectionNames(names) {
		list[i].Name = name
	}
	return list
}

func newLink(l rank.Link, url string, line func(string) string) Link {
	path := line(l.Path)
	link := Link{Title: cmp.Or(line(l.Title), strings.TrimSpace(path), url), URL: url, Note: line(l.Note), Path: path,
		Score: l.Score, Reasons: []string{}, Symbols: []Symbol{}, file: l.Path}
	for _, reason := range l.Reasons {
		link.Reasons = append(link.Reasons, line(reason))
	}
	for _, s := range l.Symbols {
		link.Symbols = append(link.Symbols, Symbol{Name: line(s.Name), Kind: string(s.Kind),
			Signature: line(s.Signature), Doc: line(s.Doc), Path: cmp.Or(line(s.File), path), Line: s.Line, URL: linkURL(s.URL)})
	}
	return link
}
