package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

const (
	leastListed    = 4   // number of pages that make a file a table of contents
	mostTables     = 400 // number of data files, and of pages, that are examined
	tableBytes     = 192 << 10
	mostFrontPages = 400
)

// listing is a page in a table of contents, with its title there and the group that it is in.
type listing struct {
	path, title, group string
	level              int // depth of its indentation
}

// pageIndex finds pages by their names in tables of contents and links.
type pageIndex struct {
	byPath map[string]bool
	byBase map[string][]string // by the last part of the path under which a site shows the page
}

// newPageIndex indexes the items that are pages.
func newPageIndex(items []*item) pageIndex {
	x := pageIndex{make(map[string]bool), make(map[string][]string)}
	for _, i := range items {
		if i.class == classPage {
			x.byPath[i.Path] = true
			base := strings.ToLower(path.Base(siteStem(i.Path)))
			x.byBase[base] = append(x.byBase[base], i.Path)
		}
	}
	return x
}

// siteStem returns the path under which a site shows a page: without ordering numbers, and without the name of an
// index.
func siteStem(p string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), "/")
	if base := path.Base(stem); base == "index" || base == "_index" || base == "README" {
		return path.Dir(stem)
	}
	return path.Join(path.Dir(stem), orderMark.ReplaceAllString(path.Base(stem), ""))
}

var (
	orderMark = regexp.MustCompile(`^\d{1,3}[-_. ]`)
	pageMark  = regexp.MustCompile(`(?i)\.(mdx?|markdown|rst|adoc|asciidoc|txt|org|html?|ipynb|rmd|qmd|livemd)$`)
)

// find returns the page that a text in a file of the folder refers to, or "". With loose, a single word may refer to
// a page beside the file.
func (x pageIndex) find(dir, target string, loose bool) string {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if target == "" || len(target) > 200 || strings.ContainsAny(target, " \t*{}|<>") {
		return ""
	}
	if _, below, remote := strings.Cut(target, "://"); remote {
		if _, target, remote = strings.Cut(below, "/"); !remote || target == "" {
			return ""
		}
		dir = "."
	}
	for _, p := range []string{path.Join(dir, target), strings.TrimLeft(path.Clean("/"+target), "/")} {
		if x.byPath[p] {
			return p
		}
	}
	stem := strings.TrimSuffix(strings.TrimPrefix(path.Clean("/"+target), "/"), "/")
	named := pageMark.MatchString(stem)
	stem = pageMark.ReplaceAllString(stem, "")
	if base := path.Base(stem); base == "index" || base == "README" || base == "_index" {
		stem = path.Dir(stem)
	}
	clean := path.Join(path.Dir(stem), orderMark.ReplaceAllString(path.Base(stem), ""))
	beside, best := path.Join(dir, clean), ""
	for _, p := range x.byBase[strings.ToLower(path.Base(clean))] {
		site := siteStem(p)
		switch {
		case strings.EqualFold(site, beside) && (loose || named || strings.Contains(target, "/")):
			return p
		case !loose && !named && !strings.Contains(clean, "/"):
		case best == "" && strings.HasSuffix("/"+strings.ToLower(site), "/"+strings.ToLower(clean)) &&
			(strings.Contains(clean, "/") || named || strings.HasPrefix(p, dir+"/")):
			best = p
		}
	}
	return best
}

// navigate finds the maintainers' own order: the navigation of a site; else structured files with four or more texts that are pages, pages that
// mostly list others, and numbered pages. The first tables count most.
func (r *ranking) navigate() {
	if r.site != nil {
		r.followSite()
		return
	}
	tables := r.tables()
	place := 0
	for n, list := range tables {
		weight := 1.22 / float64(1+n)
		for i, l := range list {
			x := r.at[l.path]
			if x == nil || x.listed > 0 {
				continue
			}
			place++
			x.listed, x.group = place, l.group
			x.label = l.title
			x.add(weight*(1-0.5*float64(i)/float64(len(list))), "listed in the navigation")
			x.begins = len(list) > shortTable && hasSubpages(list, i)
		}
	}
	r.count()
}

// count counts the pages of each group.
func (r *ranking) count() {
	groups := make(map[string]int)
	for _, x := range r.items {
		if x.listed > 0 {
			groups[x.group]++
		}
	}
	for _, x := range r.items {
		x.pages = groups[x.group]
	}
}

// shortTable is the greatest number of pages that can be linked without omitting chapters.
const shortTable = 50

// hasSubpages reports whether other pages stand under the page.
func hasSubpages(list []listing, i int) bool {
	return i+1 < len(list) && list[i+1].level > list[i].level && (i == 0 || list[i-1].level >= list[i].level)
}

// tables returns the tables of contents. Those with the most pages near the root come first.
func (r *ranking) tables() (all [][]listing) {
	var data, pages []*scan.File
	for i := range r.repo.Files {
		f := &r.repo.Files[i]
		switch {
		case f.Size == 0 || f.Size > tableBytes || f.Place == scan.Test || f.Place == scan.Generated || f.Place == scan.Example:
		case isTable(f.Path):
			data = append(data, f)
		case f.Place == scan.Product && r.at[f.Path] != nil && r.at[f.Path].class == classPage:
			pages = append(pages, f)
		}
	}
	shallow := func(a, b *scan.File) int { return depth(a.Path) - depth(b.Path) }
	slices.SortStableFunc(data, shallow)
	slices.SortStableFunc(pages, shallow)
	files := slices.Concat(data[:min(len(data), mostTables)], pages[:min(len(pages), mostTables)])
	toctrees := make(map[string][]listing)
	for i, list := range each(r.survey, len(files), func(v *survey, i int) []listing {
		return r.index.table(files[i].Path, v.head(files[i].Path, tableBytes))
	}) {
		x := r.at[files[i].Path]
		if len(list) >= leastListed && x != nil && (isTable(x.Path) || tableName.MatchString(path.Base(x.Path))) {
			r.drop(x, "lists the pages, which are linked themselves")
		}
		switch {
		case strings.HasSuffix(files[i].Path, ".rst") || len(list) > 0 && list[0].title == toctreeMark:
			toctrees[files[i].Path] = list
		case len(list) >= leastListed:
			all = append(all, list)
		}
	}
	if list := unfold(toctrees); len(list) >= leastListed {
		all = append(all, list)
	}
	if list := r.byNumbers(); len(list) >= leastListed {
		all = append(all, list)
	}
	slices.SortStableFunc(all, func(a, b []listing) int {
		return cmp.Compare(tableScore(b), tableScore(a))
	})
	return all
}

// tableScore rates a table: it grows with the number of pages, and falls with their depth.
func tableScore(list []listing) float64 {
	sum := 0
	for _, l := range list {
		sum += depth(l.path)
	}
	return logShare(len(list), 60) - 0.15*float64(sum)/float64(len(list))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isTable reports whether the file is written as data, or as little more.
func isTable(p string) bool {
	base := strings.ToLower(path.Base(p))
	return prose.EndsWithAny(base, ".yml", ".yaml", ".json", ".toml") ||
		prose.EndsWithAny(base, ".js", ".ts", ".mjs", ".mts", ".cjs") && tablePlace.MatchString(p)
}

// tablePlace matches the paths of scripts that may hold a site's navigation.
var tablePlace = regexp.MustCompile(`(?i)(^|/)\.\w+/|sidebar|nav|toc|_meta|config[^/]*$|(^|/)(docs?|site|website)/`)

var tableName = regexp.MustCompile(`(?i)^(summary|_?sidebar|_?toc|_?contents|_nav\w*)\.\w+$`)

var (
	chapterName = regexp.MustCompile(`(?i)^(ch|chap|chapter|part|lesson|week|day|unit|module|lecture)?[-_ ]?(\d+)([-_. ]|$)`)
	frontOrder  = regexp.MustCompile(`(?m)^(?:sidebar_position|weight|order|nav_order|position|sidebar_order|sort): *["']?(\d+)`)
)

// byNumbers orders pages by the numbers in their names, in the names of their folders, or in their front matter.
func (r *ranking) byNumbers() (list []listing) {
	type numbered struct{ path, key string }
	folders := make(map[string][]numbered)
	read := 0
	for _, x := range r.items {
		if x.class != classPage || dated.MatchString(x.Path) {
			continue
		}
		dir, name := path.Dir(x.Path), path.Base(x.Path)
		key := name
		if inOne := chapterName.MatchString(path.Base(dir)) && siteStem(x.Path) == dir; inOne {
			dir, key = path.Dir(dir), path.Base(dir)
		} else if !chapterName.MatchString(name) {
			key = ""
			if read < mostFrontPages && prose.EndsWithAny(name, ".md", ".mdx") {
				read++
				if front, _, ok := strings.Cut(strings.TrimPrefix(r.head(x.Path, 2<<10), "---\n"), "\n---"); ok {
					if m := frontOrder.FindStringSubmatch(front); m != nil {
						key = m[1]
					}
				}
			}
		}
		if key != "" {
			folders[dir] = append(folders[dir], numbered{x.Path, key})
		}
	}
	var dirs []string
	for dir, pages := range folders {
		if len(pages) >= leastListed {
			dirs = append(dirs, dir)
		}
	}
	slices.SortFunc(dirs, compareBy(func(string) int { return 0 }))
	for _, dir := range dirs {
		pages := folders[dir]
		slices.SortStableFunc(pages, func(a, b numbered) int { return cmp.Or(natural(a.key, b.key), strings.Compare(a.path, b.path)) })
		group := ""
		if len(dirs) > 1 {
			group = titleFromName(path.Base(dir))
		}
		for _, p := range pages {
			list = append(list, listing{p.path, "", group, 0})
		}
	}
	return list
}

// titleFromName turns "02-template-syntax" into "Template syntax".
func titleFromName(name string) string {
	name = strings.NewReplacer("-", " ", "_", " ").Replace(orderMark.ReplaceAllString(name, ""))
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

var number = regexp.MustCompile(`\d+`)

// natural compares as people do: "chapter 2" comes before "chapter 10".
func natural(a, b string) int {
	pad := func(digits string) string { return strings.Repeat("0", max(0, 12-len(digits))) + digits }
	return strings.Compare(number.ReplaceAllStringFunc(a, pad), number.ReplaceAllStringFunc(b, pad))
}
