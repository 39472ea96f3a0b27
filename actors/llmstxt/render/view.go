package render

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// view is an index made fit for any of the formats: clean single lines without secrets, nothing empty, names unique.
// Escaping is each format's own.
type view struct {
	title    string
	summary  string
	details  []string
	sections []section
}

type section struct {
	name  string
	links []link
}

type link struct {
	title, url, note, path string
	score                  int
	symbols                []symbol
}

type symbol struct {
	signature, doc, file string
	line                 int
}

func newView(index *rank.Index) view {
	line := Liner()
	v := view{title: line(index.Title), summary: line(index.Summary)}
	if v.title == "" {
		v.title = "Untitled"
	}
	for _, f := range index.Facts {
		if name, value := line(f.Name), line(f.Value); name != "" && value != "" {
			v.details = append(v.details, name+": "+value)
		}
	}
	if len(v.details) == 0 {
		v.details = []string{"Links lead to files of the repository."}
	}
	var names []string
	for _, s := range index.Sections {
		if links := viewLinks(s.Links, line); len(links) > 0 {
			names = append(names, s.Name)
			v.sections = append(v.sections, section{links: links})
		}
	}
	for i, name := range sectionNames(names) {
		v.sections[i].name = name
	}
	return v
}

func viewLinks(links []rank.Link, line func(string) string) []link {
	var list []link
	for _, l := range links {
		url := linkURL(l.URL)
		if url == "" {
			continue
		}
		title := line(l.Title)
		if title == "" {
			title = strings.TrimSpace(line(l.Path))
		}
		if title == "" {
			title = url
		}
		list = append(list, link{title: title, url: url, note: line(l.Note), path: l.Path,
			score: l.Score, symbols: viewSymbols(l, line)})
	}
	return list
}

func viewSymbols(l rank.Link, line func(string) string) []symbol {
	var list []symbol
	for _, s := range l.Symbols {
		list = append(list, symbol{signature: line(s.Signature), doc: line(s.Doc), file: line(s.File), line: s.Line})
	}
	return list
}
