package kind

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const (
	contentsBytes = 64 << 10
	fewChapters   = 4
	mostChapters  = 80 // of all books of a repository
)

// book is the chapters in their order, and the files that only list or praise them.
type book struct {
	chapters, aside []string
	titles          map[string]string // that the contents give
}

// books lists the chapters of each book; they share the room alike.
func books(t Tree) Found {
	list, older := t.books()
	if len(list) == 0 {
		return Found{}
	}
	found := Found{Aside: older, Why: "of the book's making, an older edition, or one chapter too many"}
	for _, b := range list {
		shown := min(len(b.chapters), mostChapters/len(list))
		found.Links = append(found.Links, t.titled(b, shown)...)
		found.Aside = append(append(found.Aside, b.aside...), b.chapters[shown:]...)
	}
	if !t.Library {
		whole := t.has("SUMMARY.md") || t.has("src/SUMMARY.md") // the repository is a book, and holds none
		found.Aside = append(found.Aside, t.matching(func(p string) bool {
			return whole && isChapter(p) && strings.Contains(p, "/") ||
				hasSegment(p, "theme", "themes", "listings", "code", "snippets", "ci", "tools", "scripts")
		})...)
	}
	found.Aside = slices.DeleteFunc(found.Aside, func(p string) bool {
		return slices.ContainsFunc(found.Links, func(l Link) bool { return l.Path == p })
	})
	return found
}

// books finds each by its table of contents, else by the numbers of its chapters where there is nothing else. older
// are the pages of other editions, and those that are printed from the same text.
func (t Tree) books() (list []book, older []string) {
	for _, p := range t.named("SUMMARY.md", "_toc.yml", "_quarto.yml", "_bookdown.yml") {
		b := t.listed(p)
		switch {
		case len(b.chapters) < fewChapters:
		case slices.ContainsFunc(list, b.isEditionOf):
			older = append(append(older, b.chapters...), b.aside...)
		default:
			list = append(list, b)
		}
	}
	numbered := t.numbered()
	var chapters []string
	for _, b := range numbered {
		chapters = append(chapters, b.chapters...)
	}
	sources := 0 // those of examples among them
	for _, f := range t.Files {
		if f.Kind == scan.Source {
			sources++
		}
	}
	switch {
	case len(list) > 0:
		older = append(older, chapters...)
	case !t.Library && sources < len(chapters):
		list = numbered
	}
	return list, older
}

var plain = strings.NewReplacer("*", "", "`", "")

var heading = regexp.MustCompile(`(?m)^(#{1,2}) +(.+?) *#*$`)

// isEditionOf tells a book with the chapters of another.
func (b book) isEditionOf(other book) bool {
	same := 0
	for _, p := range b.chapters {
		if slices.ContainsFunc(other.chapters, func(o string) bool { return path.Base(o) == path.Base(p) }) {
			same++
		}
	}
	return 2*same > len(b.chapters)
}

// titled links the first chapters of a book. Where each begins with the title of the book, the heading below is that
// of the chapter.
func (t Tree) titled(b book, shown int) []Link {
	var links []Link
	chapters := b.chapters[:shown]
	first := map[string]int{}
	heads := make([][][]string, len(chapters))
	for i, p := range chapters {
		heads[i] = heading.FindAllStringSubmatch(t.Read(p, 4<<10), 2)
		if len(heads[i]) > 0 {
			first[heads[i][0][2]]++
		}
	}
	for i, p := range chapters {
		l := Link{Path: p, Section: "Chapters", Title: b.titles[p], Reason: "a chapter, in the book's order"}
		if l.Title == "" && len(heads[i]) == 2 && first[heads[i][0][2]] > 1 {
			l.Title = plain.Replace(heads[i][1][2])
		}
		links = append(links, l)
	}
	return links
}

var titledLink = regexp.MustCompile(`\[([^\]\n]+)\]\(([^)\s#]+)\)`)

// listed reads the chapters that a table of contents names.
func (t Tree) listed(contents string) book {
	b := book{aside: []string{contents}, titles: make(map[string]string)}
	text := t.Read(contents, contentsBytes)
	for _, m := range titledLink.FindAllStringSubmatch(text, -1) {
		b.titles[path.Join(path.Dir(contents), m[2])] = plain.Replace(m[1])
	}
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
	for _, f := range t.Files {
		p, dir := f.Path, path.Dir(f.Path)
		name := strings.ToLower(nameOf(p))
		if inOne := chapterName.MatchString(path.Base(dir)) && (name == "readme" || name == "index"); inOne {
			dir = path.Dir(dir)
		} else if !chapterName.MatchString(name) {
			continue
		}
		if f.Place != scan.Product || !isChapter(p) || path.Ext(p) == ".ipynb" {
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
			list = append(list, t.around(dir, byDir[dir]))
		}
	}
	return list
}

var (
	appendixName = regexp.MustCompile(`(?i)^(ap|app|appendix)[-_ ]?[a-z0-9]([-_. ]|$)`)
	asideName    = regexp.MustCompile(`(?i)^(toc|contents|summary|foreword|thanks|acknowledge?ments|dedication)$`)
)

// around adds to numbered chapters the page of the book before them and the appendices behind.
func (t Tree) around(dir string, chapters []string) book {
	b := book{chapters: chapters}
	for i := range t.Files {
		p := t.Files[i].Path
		switch name := nameOf(p); {
		case path.Dir(p) != dir || dir == "." || !isChapter(p):
		case strings.EqualFold(name, "readme"):
			b.chapters = slices.Insert(b.chapters, 0, p)
		case appendixName.MatchString(name):
			b.chapters = append(b.chapters, p)
		case asideName.MatchString(name):
			b.aside = append(b.aside, p)
		}
	}
	return b
}
