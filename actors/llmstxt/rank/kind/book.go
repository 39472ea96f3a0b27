package kind

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
)

const (
	contentsBytes = 64 << 10
	fewChapters   = 4
	mostChapters  = 80 // of all books of a repository
)

// book is the chapters in their order, and the files that only list them.
type book struct {
	chapters []string
	contents string
}

// books finds each by its table of contents, else by the numbers of its chapters where there is nothing else. They
// share the room alike.
func books(t Tree) Found {
	var list []book
	for _, p := range t.named("SUMMARY.md", "_toc.yml", "_quarto.yml", "_bookdown.yml") {
		if b := t.listed(p); len(b.chapters) >= fewChapters {
			list = append(list, b)
		}
	}
	if len(list) == 0 && !t.Library {
		if list = t.numbered(); t.sources() >= chaptersOf(list) {
			list = nil
		}
	}
	if len(list) == 0 {
		return Found{}
	}
	found := Found{Why: "of the book's making, not of its text"}
	for _, b := range list {
		for _, p := range b.chapters[:min(len(b.chapters), mostChapters/len(list))] {
			found.Links = append(found.Links, Link{Path: p, Section: "Chapters", Reason: "a chapter, in the book's order"})
		}
		if b.contents != "" {
			found.Aside = append(found.Aside, b.contents)
		}
	}
	if !t.Library {
		found.Aside = append(found.Aside, t.matching(func(p string) bool {
			return hasSegment(p, "theme", "themes", "listings", "code", "snippets", "ci", "tools", "scripts")
		})...)
	}
	return found
}

func chaptersOf(list []book) (n int) {
	for _, b := range list {
		n += len(b.chapters)
	}
	return n
}

// sources counts the files of code, those of examples among them.
func (t Tree) sources() (n int) {
	for i := range t.Files {
		if t.Files[i].Kind == scan.Source {
			n++
		}
	}
	return n
}

// listed reads the chapters that a table of contents names.
func (t Tree) listed(contents string) book {
	b := book{contents: contents}
	text := t.Read(contents, contentsBytes)
	targets := t.Targets(contents, text)
	if path.Ext(contents) != ".md" {
		targets = targets[:0]
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\t \"'[],", r) }) {
			targets = append(targets, path.Join(path.Dir(contents), name))
		}
	}
	for _, p := range targets {
		for _, end := range []string{"", ".md", ".ipynb", ".rst"} {
			if isChapter(p+end) && t.has(p+end) && !slices.Contains(b.chapters, p+end) {
				b.chapters = append(b.chapters, p+end)
			}
		}
	}
	return b
}

func isChapter(p string) bool {
	return slices.Contains([]string{".md", ".markdown", ".adoc", ".asc", ".rst", ".rmd", ".qmd", ".ipynb"},
		strings.ToLower(path.Ext(p)))
}

var chapterName = regexp.MustCompile(
	`(?i)^(ch|chap|chapter|part|lesson|week|day|unit|module|lecture)?[-_ ]?\d+([-_. ]|$)`)

// numbered takes folders of numbered pages or numbered folders with a page each for books; a book in one folder for
// each chapter stands together.
func (t Tree) numbered() (list []book) {
	byDir := map[string][]string{}
	var dirs []string
	for i := range t.Files {
		p := t.Files[i].Path
		if t.Files[i].Place != scan.Product || !isChapter(p) || path.Ext(p) == ".ipynb" {
			continue
		}
		dir := path.Dir(p)
		switch {
		case chapterName.MatchString(nameOf(p)):
		case strings.EqualFold(nameOf(p), "readme") || strings.EqualFold(nameOf(p), "index"):
			if dir == "." || !chapterName.MatchString(path.Base(dir)) {
				continue
			}
			dir = path.Dir(dir)
		default:
			continue
		}
		if byDir[dir] == nil {
			dirs = append(dirs, dir)
		}
		byDir[dir] = append(byDir[dir], p)
	}
	for _, dir := range dirs {
		if len(byDir[dir]) >= fewChapters && !hasSegment(dir+"/x", "rfcs", "adr", "adrs", "decisions", "proposals",
			"blog", "_posts") {
			slices.SortFunc(byDir[dir], natural)
			list = append(list, book{chapters: byDir[dir]})
		}
	}
	return list
}
