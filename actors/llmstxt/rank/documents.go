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
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// noPages are stems of files that tools read, or that go with a release.
var noPages = words.Of("no pages")

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
		case noPages.Has(stemOf(f.Path)) || strings.HasPrefix(stemOf(f.Path), "llms"):
		case path.Base(f.Path) == "README.Rmd" && j.byPath[path.Join(path.Dir(f.Path), "README.md")] != nil: // made from it
		default:
			files = append(files, f)
		}
	}
	if f := j.byPath[j.readme.Path]; f != nil && f.Place == scan.Meta {
		files = append(files, f)
	}
	likely := compareBy(func(p string) int { return depth(p) - bits.Len64(uint64(j.byPath[p].Size))/3 })
	slices.SortFunc(files, func(x, y *scan.File) int { return likely(x.Path, y.Path) })
	for _, f := range files[min(len(files), mostPages):] {
		j.pass(f.Path, 0, fmt.Sprintf("not read: %d documents are larger or nearer to the root", mostPages))
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
	type reading struct {
		features page.Features
		names    []string // in its code
		sum      uint64   // 0 for a page that cannot be read
	}
	files, seed := j.pageFiles(), maphash.MakeSeed()
	read := func(v *survey, i int) (r reading) {
		if text := v.head(files[i].Path, limitOf(files[i].Path)); text != "" {
			r = reading{page.FeaturesOf(files[i].Path, text), namesInCode(text), maphash.String(seed, text)}
		}
		return r
	}
	var pages []*document
	first := make(map[uint64]string)
	for i, r := range each(j.survey, len(files), read) {
		f := files[i]
		if r.sum == 0 {
			j.pass(f.Path, 0, "cannot be read")
			continue
		}
		if other := first[r.sum]; other != "" && f.Path != j.readme.Path {
			j.pass(f.Path, 10, "the same text as "+other)
			continue
		}
		first[r.sum] = f.Path
		d := &document{Features: r.features, order: 1 << 20}
		d.Path, d.size = f.Path, f.Size
		j.crowds[path.Dir(f.Path)]++
		for _, name := range r.names {
			j.written[name]++
		}
		pages = append(pages, d)
	}
	return pages
}

// namesInCode gives each name in the page's code once.
func namesInCode(text string) []string {
	var names []string
	for _, line := range page.CodeOf(text) {
		names = append(names, telling(line, "")...)
	}
	slices.Sort(names)
	return slices.Compact(names)
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
		d.add(1000, "the README")
		return
	}
	section, reason := j.sectionOf(d)
	if section == "" {
		j.pass(d.Path, 20-depth(d.Path), reason)
		return
	}
	d.section = section
	d.add(pointsOf(section), reason)
	j.credit(&d.candidate)
	d.grow(d.linked, 6, 24, "linked from "+prose.Count(d.linked, "page"))
	d.add(opening(d))
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
func opening(d *document) (points int, reason string) {
	title := strings.ToLower(d.Heading)
	for _, s := range openings {
		if w := s.words.Word(title); w != "" {
			return s.points, fmt.Sprintf("heading says %q", w)
		}
	}
	return 0, ""
}
