package rank

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/scan"
)

const (
	readmeBytes = 64 << 10 // of a README, for title and summary
	pageBytes   = 16 << 10 // of any other file, for its title and first sentence
)

// Build ranks the files of repo and reads the chosen ones through files.
// progress, which may be nil, hears how many of how many links are written up.
// The only error is ctx's cause: a file that can no longer be read keeps its
// link without a note.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, options Options, progress func(done, total int)) (*Index, error) {
	b := &builder{ctx: ctx, files: files, repo: repo, caps: options.Caps.withDefaults(), links: linker{repo.Origin}, paths: make(map[string]bool)}
	for _, f := range repo.Files {
		b.paths[f.Path] = true
	}
	b.readme = b.findReadme()
	b.manifest = b.readManifest()
	b.golang = b.findGo()
	index := &Index{Origin: repo.Origin, Title: b.title(), Facts: b.facts()}
	index.Summary, index.SummaryFrom = b.summary()
	sections := b.caps.within(b.choose())
	if err := b.writeUp(sections, progress); err != nil {
		return nil, err
	}
	index.Sections = sections
	return index, nil
}

type builder struct {
	ctx      context.Context
	files    fs.FS
	repo     *scan.Repository
	caps     Caps
	links    linker
	paths    map[string]bool
	readme   page
	manifest manifest
	golang   goTree
}

// head gives the start of a file; nothing of one that cannot be read.
func (b *builder) head(path string, limit int64) string {
	if b.ctx.Err() != nil {
		return ""
	}
	data, whole, err := scan.ReadFile(b.ctx, b.files, path, limit)
	if err != nil {
		return ""
	}
	if !whole {
		data = data[:1+strings.LastIndexByte(string(data), '\n')]
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

func (b *builder) findReadme() page {
	best := ""
	for _, f := range b.repo.Files {
		if isReadme(f.Path) && !strings.Contains(f.Path, "/") && (best == "" || readmeRank(f.Path) < readmeRank(best)) {
			best = f.Path
		}
	}
	if best == "" {
		return page{}
	}
	return readPage(best, b.head(best, readmeBytes))
}

func isReadme(p string) bool {
	name := strings.ToLower(path.Base(p))
	return name == "readme" || strings.HasPrefix(name, "readme.") && !strings.HasSuffix(name, ".vendor")
}

// readmeRank prefers the plain name to a translation, and Markdown to others.
func readmeRank(p string) int {
	order := []string{"readme.md", "readme.markdown", "readme.mdx", "readme.rst", "readme.adoc", "readme", "readme.txt"}
	if i := slices.Index(order, strings.ToLower(path.Base(p))); i >= 0 {
		return i
	}
	return len(order)
}

// choose lists the sections with their links in order, titles and notes still
// to be read.
func (b *builder) choose() []Section {
	docs, optional := b.documents()
	return []Section{
		{"Docs", docs},
		{"Packages", b.packages()},
		{"Source", b.sources()},
		{"Commands", b.commands()},
		{"Examples", b.examples()},
		{"Configuration", b.configuration()},
		{Optional, optional},
	}
}

func (b *builder) link(path string) Link {
	return Link{Path: path, URL: b.links.url(path)}
}

// writeUp reads titles and notes of the links that made it.
func (b *builder) writeUp(sections []Section, progress func(done, total int)) error {
	total, done := 0, 0
	for _, s := range sections {
		total += len(s.Links)
	}
	for _, s := range sections {
		for i := range s.Links {
			if b.ctx.Err() != nil {
				return context.Cause(b.ctx)
			}
			b.describe(&s.Links[i])
			done++
			if progress != nil {
				progress(done, total)
			}
		}
		distinguish(s.Links)
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return nil
}

// describe fills in what the choice of the link left open.
func (b *builder) describe(l *Link) {
	if l.Note != "" {
		return
	}
	if l.Path == b.readme.path {
		l.Title = "README" // its first sentence is the summary
		return
	}
	text := b.head(l.Path, pageBytes)
	if isPage(l.Path) {
		p := readPage(l.Path, text)
		l.Title, l.Note = firstOf(l.Title, p.title, distinction(l.Path)), p.note()
		if stem := stemOf(l.Path); stem == "agents" || stem == "claude" {
			l.Title = path.Base(l.Path) // begins with an order to its reader as a rule
		}
	} else {
		l.Title, l.Note = firstOf(l.Title, l.Path), sourceNote(l.Path, text)
	}
	if strings.EqualFold(strings.TrimRight(l.Note, "."), l.Title) {
		l.Note = ""
	}
}

// distinguish adds to titles that occur more than once in a section the least
// that tells them apart: the folder's name, else the path.
func distinguish(links []Link) {
	same := make(map[string][]int)
	for i, l := range links {
		same[l.Title] = append(same[l.Title], i)
	}
	for _, group := range same {
		if len(group) == 1 {
			continue
		}
		folders := make(map[string]bool)
		for _, i := range group {
			folders[path.Base(path.Dir(links[i].Path))] = true
		}
		for _, i := range group {
			label := distinction(links[i].Path)
			if len(folders) == len(group) {
				label = path.Base(path.Dir(links[i].Path))
			}
			links[i].Title += " (" + label + ")"
		}
	}
}

// distinction is the path, or the folder of a page whose own name says nothing.
func distinction(p string) string {
	if dir := path.Dir(p); dir != "." && (stemOf(p) == "readme" || stemOf(p) == "index") {
		return dir
	}
	return p
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
