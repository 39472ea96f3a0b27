package render

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/parallel"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/internal/secret"
)

// made is the block of an entry. What else is known about its file is reported once the block is taken, because it
// depends on the workers how many blocks are made but never taken.
type made struct {
	text   *bytes.Buffer
	cost   room
	tokens int // of the file, if it is linked and the caller asks
	found  []secret.Finding
}

// tell reports that the block of the i-th entry was taken.
func (p *packing) tell(i int, m made) {
	p.pack.Secrets.Add(m.found)
	if e := p.entries[i]; p.pack.Linked != nil && e.section >= 0 {
		p.pack.Linked(e.link.file, m.tokens)
	}
}

// stream writes all entries, with a few files in memory at a time.
func (p *packing) stream(w io.Writer, before func(i int)) error {
	i := 0
	for block, err := range p.blocks(slices.Sorted(slices.Values(p.order))) {
		if err != nil {
			return err
		}
		before(i)
		if _, err := w.Write(block.text.Bytes()); err != nil {
			return err
		}
		p.tell(i, block)
		p.spare.Put(block.text)
		i++
	}
	return nil
}

// blocks makes the blocks of entries in the order of the indexes.
func (p *packing) blocks(order []int) iter.Seq2[made, error] {
	workers := min(runtime.GOMAXPROCS(0), 4)
	return parallel.Each(p.ctx, p.pack.Go, workers, len(order),
		func(ctx context.Context) (makeBlock func(n int) (made, error), done func()) {
			texts := p.pack.texts(ctx, p.files)
			return func(n int) (made, error) {
				f, err := texts.Read(p.entries[order[n]].link.file, p.pack.FileBytes)
				if err != nil {
					return made{}, err
				}
				text := p.spare.Get().(*bytes.Buffer)
				text.Reset()
				p.block(text, p.entries[order[n]], f)
				return made{text: text, cost: p.cost(text.Bytes()), tokens: p.tokensOf(order[n], f), found: f.Found}, nil
			}, texts.Close
		})
}

// tokensOf counts the tokens of the i-th entry's file, if the caller asks.
func (p *packing) tokensOf(i int, f sanitize.Text) int {
	if p.pack.Linked == nil || p.entries[i].section < 0 || f.Absent != "" {
		return 0
	}
	return p.pack.Counts.Of(p.ctx, f.Text)
}

// cleaned is an index ready for any of the formats: clean single lines without secrets, nothing empty, unique names.
// Each format does its own escaping.
type cleaned struct {
	title    string
	summary  string
	details  []string
	sections []Section
}

// newCleaned cleans the index. Afterwards it has a title and details, which front needs.
func newCleaned(index *rank.Index) cleaned {
	line := sanitize.Liner()
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

// Section is a list of links under a name that is unique in the files.
type Section struct {
	Name  string
	Links []Link
}

// Link points to one file. Its texts are clean.
type Link struct {
	Title, URL, Note, Path string
	Score                  int
	Reasons                []string
	Symbols                []Symbol

	file string // the file to read
}

// Symbol is an exported name.
type Symbol struct {
	Name, Kind, Signature, Doc, Path string
	Line                             int
	URL                              string
}

// Sections returns the sections of the index as the files have them.
func Sections(index *rank.Index) []Section { return sections(index, sanitize.Liner()) }

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

// newLink cleans a link. file stays as it is, because the text is read under that name.
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
