package rank

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// mostPages of the documents are read to be judged; the shallow and the large ones come first.
const mostPages = 400

// document is a page that was looked at.
type document struct {
	candidate
	page.Features
	section string
	linked  int // pages that link to it
	order   int // where the first page that links to it has it
}

// pageJudge puts pages into sections.
type pageJudge struct {
	*judge
	crowds map[string]int // pages by folder
}

// documents reads the likeliest pages and puts them into their sections.
func (j *pageJudge) documents(c choice) {
	pages := j.readPages()
	j.linkPages(pages)
	for _, d := range pages {
		j.rate(d)
	}
	slices.SortFunc(pages, func(x, y *document) int {
		if x.Score == y.Score && x.order != y.order {
			return x.order - y.order
		}
		return byScore(&x.candidate, &y.candidate)
	})
	for _, d := range pages {
		if d.section != "" {
			c[d.section] = append(c[d.section], &d.candidate)
		}
	}
}

// pageFiles are those that may be pages, in the order in which they are worth reading.
func (j *pageJudge) pageFiles() []*scan.File {
	var files []*scan.File
	for f := range j.files() {
		switch {
		case !page.Is(f.Path) || f.Kind == scan.Manifest:
		case (strings.EqualFold(path.Ext(f.Path), ".txt") || path.Ext(f.Path) == ".asc" || page.IsMan(f.Path)) &&
			f.Kind != scan.Document:
		case stemOf(f.Path) == "robots" || stemOf(f.Path) == "requirements" ||
			strings.HasPrefix(stemOf(f.Path), "llms"):
		default:
			files = append(files, f)
		}
	}
	likely := compareBy(func(p string) int { return depth(p) - bits.Len64(uint64(j.byPath[p].Size))/3 })
	slices.SortFunc(files, func(x, y *scan.File) int { return likely(x.Path, y.Path) })
	for _, f := range files[min(len(files), mostPages):] {
		j.passed.add(f.Path, 0, fmt.Sprintf("not read: %d documents are larger or nearer to the root", mostPages))
	}
	return files[:min(len(files), mostPages)]
}

// limitOf a page is what is read of it. Notebooks hold pictures between their words.
func limitOf(p string) int64 {
	if page.IsNotebook(p) {
		return 16 * pageBytes
	}
	return pageBytes
}

// manyPages in one folder are the entries of a reference.
const manyPages = 12

func (j *pageJudge) readPages() []*document {
	var pages []*document
	first, seed := make(map[uint64]string), maphash.MakeSeed()
	for _, f := range j.pageFiles() {
		text := j.head(f.Path, limitOf(f.Path))
		if text == "" {
			j.passed.add(f.Path, 0, "cannot be read")
			continue
		}
		sum := maphash.String(seed, text)
		if other := first[sum]; other != "" && f.Path != j.readme.Path {
			j.passed.add(f.Path, 10, "the same text as "+other)
			continue
		}
		first[sum] = f.Path
		d := &document{Features: page.FeaturesOf(f.Path, text), order: 1 << 20}
		d.Path, d.size = f.Path, f.Size
		j.crowds[path.Dir(f.Path)]++
		j.take(text)
		pages = append(pages, d)
	}
	return pages
}

// take counts for each name in code that the page writes it.
func (j *judge) take(text string) {
	seen := make(map[string]bool)
	for _, line := range page.CodeOf(text) {
		for w := range telling(line) {
			if !seen[w] {
				seen[w] = true
				j.written[w]++
			}
		}
	}
}

// linkPages counts which pages other pages lead to, and in what order. Links that a site resolves, "/servers/tools",
// are found by the end of their path.
func (j *pageJudge) linkPages(pages []*document) {
	byStem := make(map[string][]*document)
	for _, d := range pages {
		base := path.Base(siteStem(d.Path))
		byStem[base] = append(byStem[base], d)
	}
	for _, from := range pages {
		seen := make(map[*document]bool)
		for i, target := range from.Targets {
			to := resolvePage(from.Path, target, byStem)
			if to == nil || to == from || seen[to] {
				continue
			}
			seen[to] = true
			to.linked++
			to.order = min(to.order, i)
		}
	}
}

func resolvePage(from, target string, byStem map[string][]*document) *document {
	target = siteStem(target)
	beside := path.Join(path.Dir(from), target)
	var best *document
	for _, d := range byStem[path.Base(target)] {
		switch stem := siteStem(d.Path); {
		case stem == beside || stem == target:
			return d
		case strings.HasSuffix("/"+stem, "/"+target) && best == nil:
			best = d
		}
	}
	return best
}

// siteStem is the path by which a site knows a page.
func siteStem(p string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), "/")
	if base := path.Base(stem); base == "index" || base == "_index" || base == "README" {
		return path.Dir(stem)
	}
	return stem
}

// rate gives the page its section and its score, or passes over it.
func (j *pageJudge) rate(d *document) {
	if d.Path == j.readme.Path {
		d.section, d.Title = secDocs, "README"
		d.add(1000, "README at the root")
		if depth(d.Path) > 0 {
			d.Reasons = []string{"the only README"}
		}
		return
	}
	section, reason := j.sectionOf(d)
	if section == "" {
		j.passed.add(d.Path, 20-depth(d.Path), reason)
		return
	}
	d.section = section
	d.add(pointsOf(section), reason)
	j.credit(&d.candidate)
	d.grow(d.linked, 6, 24, prose.Count(d.linked, "page")+verb(d.linked, " links", " link")+" to it")
	if opens, points := opening(d); points > 0 {
		d.add(points, opens)
	}
	d.add(min(20, d.ProseLines/5+d.Fences), "")
	for _, w := range pageWeights {
		if w.holds(j, d) {
			d.add(w.points, w.reason)
		}
	}
	d.Score -= 4 * depth(d.Path)
}

// openings are the titles of the pages that a newcomer begins with.
var openings = []struct {
	points int
	words  words.List
}{
	{60, words.Of("first openings")}, {50, words.Of("second openings")}, {44, words.Of("third openings")},
	{30, words.Of("fourth openings")},
}

// opening tells the pages that a newcomer begins with.
func opening(d *document) (reason string, points int) {
	title := strings.ToLower(d.Heading)
	for _, s := range openings {
		if w := s.words.Word(title); w != "" {
			return fmt.Sprintf("heading says %q", w), s.points
		}
	}
	return "", 0
}

// verb is the form that agrees with n.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// higher says how many others of a sort there is room for.
func higher(n int, thing string) string {
	return prose.Count(n, thing) + verb(n, " ranks", " rank") + " higher"
}
