package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const (
	leastListed    = 4   // pages that make a file a table of contents
	mostTables     = 400 // of data, and of pages, that are looked at
	tableBytes     = 192 << 10
	mostFrontPages = 400
)

// listing is a page in a table of contents: what the table calls it, and what stands above it.
type listing struct {
	path, title, group string
}

// pageIndex finds pages by what tables of contents and links call them.
type pageIndex struct {
	byPath map[string]bool
	byBase map[string][]string // by the last part of the path by which a site knows the page
}

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

// siteStem is the path by which a site knows a page: without numbers that order, and without the name of an index.
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

// find gives the page that a text in a file of the folder means, "" for none. A bare word means a page only where
// loose is set, and only one beside the file.
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
		case strings.HasSuffix("/"+strings.ToLower(site), "/"+strings.ToLower(clean)) && (strings.Contains(clean, "/") || named || strings.HasPrefix(p, dir+"/")) &&
			(best == "" || near(dir, p) > near(dir, best)):
			best = p
		}
	}
	return best
}

// near counts the folders that both are below.
func near(dir, p string) (n int) {
	a, b := strings.Split(dir, "/"), strings.Split(p, "/")
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// navigate finds what the maintainers have put in order: any structured file of whose texts four or more are pages,
// pages that mostly list others, and numbers of pages. Its first tables count most.
func (r *ranking) navigate() {
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
			x.Title = cmp.Or(x.Title, l.title)
			x.add(weight*(1-0.5*float64(i)/float64(len(list))), "listed in the navigation")
		}
	}
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

// tables gives the tables of contents, the one with the most pages near the root first.
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
		return cmp.Compare(worth(b), worth(a))
	})
	return all
}

// worth of a table grows with its pages, and sinks with how deep they lie.
func worth(list []listing) float64 {
	sum := 0
	for _, l := range list {
		sum += depth(l.path)
	}
	return share(len(list), 60) - 0.15*float64(sum)/float64(len(list))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isTable tells the files that are written as data, or as little more, from the others.
func isTable(p string) bool {
	base := strings.ToLower(path.Base(p))
	return prose.EndsWithAny(base, ".yml", ".yaml", ".json", ".toml") ||
		prose.EndsWithAny(base, ".js", ".ts", ".mjs", ".mts", ".cjs") && tablePlace.MatchString(p)
}

// tablePlace tells the scripts that may hold the navigation of a site from all others.
var tablePlace = regexp.MustCompile(`(?i)(^|/)\.\w+/|sidebar|nav|toc|_meta|config[^/]*$|(^|/)(docs?|site|website)/`)

var tableName = regexp.MustCompile(`(?i)^(summary|_?sidebar|_?toc|_?contents|_nav\w*)\.\w+$`)

const toctreeMark = "\x00"

// table reads the pages that a file lists; none for one that is no table of contents.
func (x pageIndex) table(p, text string) []listing {
	dir := path.Dir(p)
	if base := path.Base(dir); base == ".vitepress" || base == ".vuepress" {
		dir = path.Dir(dir)
	}
	switch {
	case strings.Contains(text, "toctree"):
		var list []listing
		for _, t := range page.Toctrees(text) {
			if to := x.find(dir, t.Target, true); to != "" {
				list = append(list, listing{to, toctreeMark, t.Caption})
			}
		}
		return list
	case prose.EndsWithAny(p, ".yml", ".yaml", ".toml"):
		return x.indented(dir, text)
	case isTable(p):
		return x.bracketed(dir, text)
	case prose.EndsWithAny(p, ".rst", ".adoc"):
		return nil
	}
	return x.linked(p, dir, text)
}

var listItem = regexp.MustCompile(`^(\s*)(?:[-*+]|\d+\.)\s+(?:\[[ x]\] )?\**(?:\[([^\]]+)\]\(([^)\s]+)[^)]*\)|([^\[\]]+))`)

// linked reads a page of whose lines more than half are links to others.
func (x pageIndex) linked(p, dir, text string) (list []listing) {
	links, other, heading := 0, 0, ""
	seen := make(map[string]bool)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n ")
		if h, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.TrimSpace(strings.TrimLeft(h, "#"))
			if strings.HasPrefix(line, "# ") {
				if links == 0 {
					heading = ""
				}
			}
			continue
		}
		m := listItem.FindStringSubmatch(line)
		switch {
		case m != nil && m[3] != "" || strings.HasPrefix(line, "[") && strings.HasSuffix(line, ")"):
			title, target := "", ""
			if m != nil {
				title, target = m[2], m[3]
			} else {
				title, target, _ = strings.Cut(strings.Trim(line, "[)"), "](")
			}
			links++
			if to := x.find(dir, target, false); to != "" && to != p && !seen[to] {
				seen[to] = true
				list = append(list, listing{to, plainTitle(title), heading})
			}
		case strings.TrimSpace(line) != "":
			other++
		}
	}
	if other > links && !strings.HasPrefix(path.Base(p), "SUMMARY") {
		return nil
	}
	return list
}

func plainTitle(s string) string {
	return strings.Trim(prose.Tidy(strings.NewReplacer("*", "", "`", "").Replace(s)), `"' `)
}

var labelKey = regexp.MustCompile(`(?i)^["']?(text|label|title|name|group|header|section|category|tab|dropdown|caption|part)["']?$`)

// frame is an open bracket, or the lines below a key.
type frame struct {
	label  string
	indent int
	beside bool // the label stands among the keys that it is for
}

// bracketed reads JSON and the literals of scripts: a text that is a page, with the label beside it, below the labels
// of the brackets around it.
func (x pageIndex) bracketed(dir, text string) (list []listing) {
	if i := strings.Index(text, "sidebar:"); i > 0 {
		text = text[i:] // what is above it is the bar at the top
	}
	stack, texts := []frame{{}}, 0
	key, pending := "", ""
	seen := make(map[string]bool)
	for i := 0; i < len(text); i++ {
		top := &stack[len(stack)-1]
		switch c := text[i]; c {
		case '{', '[':
			stack = append(stack, frame{label: pending})
			key, pending = "", ""
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			key, pending = "", ""
		case ',', '\n':
			pending = ""
		case '/':
			if strings.HasPrefix(text[i:], "//") && (i == 0 || text[i-1] != ':') {
				if end := strings.IndexByte(text[i:], '\n'); end > 0 {
					i += end
				}
			}
		case '"', '\'', '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 || end > 400 {
				continue
			}
			s := text[i+1 : i+1+end]
			i += end + 1
			rest := strings.TrimLeft(text[min(i+1, len(text)):min(i+80, len(text))], " \t\n")
			if strings.HasPrefix(rest, ":") {
				key, pending = s, s
				if to := x.find(dir, s, true); to != "" && !seen[to] && s != "README" && !strings.HasPrefix(strings.TrimLeft(rest[1:], " \n"), "[") {
					seen[to] = true
					list = append(list, listing{to, "", groupOf(stack)})
				}
				continue
			}
			texts++
			if to := x.find(dir, s, true); to != "" {
				if !seen[to] {
					seen[to] = true
					list = append(list, listing{to, top.label, groupOf(stack[:max(1, len(stack)-1)])})
				}
			} else if labelKey.MatchString(key) && !strings.ContainsAny(s, "/\\<{") {
				top.label = s
			}
		default:
			if isWordByte(c) {
				end := i
				for end < len(text) && isWordByte(text[end]) {
					end++
				}
				if word := text[i:end]; strings.HasPrefix(strings.TrimLeft(text[end:min(end+4, len(text))], " "), ":") {
					key, pending = word, word
				}
				i = end - 1
			}
		}
	}
	if 8*len(list) < texts {
		return nil
	}
	return list
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// groupOf is the outermost label that is none of the words of the format.
func groupOf(stack []frame) string {
	for _, f := range stack {
		if f.label != "" && !formatWord.MatchString(f.label) && !strings.ContainsAny(f.label, "/") {
			return f.label
		}
	}
	return ""
}

var formatWord = regexp.MustCompile(`(?i)^(nav|navigation|toc|items|pages|chapters|sections|parts|children|contents|content|docs|` +
	`sidebars?|\w*sidebar|book|themeconfig|groups|tabs|anchors|links|files|href|file|path|link|url|languages|versions|en|dropdowns|root|entries|export|default)$`)

var yamlLine = regexp.MustCompile(`^(\s*)((?:- +)*)(?:(["']?[^"'#:\[{][^:#]*?["']?):(?:\s+(.*))?|(.+))$`)

// indented reads YAML line by line: keys that have pages, or lists of them, below.
func (x pageIndex) indented(dir, text string) (list []listing) {
	var stack []frame
	seen, texts := make(map[string]bool), 0
	for line := range strings.Lines(text) {
		m := yamlLine.FindStringSubmatch(strings.TrimRight(line, "\r\n "))
		if m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		indent := len(m[1]) + len(m[2])
		for n := len(stack); n > 0 && (stack[n-1].indent > len(m[1]) ||
			stack[n-1].indent == len(m[1]) && m[2] == "" && !stack[n-1].beside); n = len(stack) {
			stack = stack[:n-1]
		}
		key, value := strings.Trim(m[3], `"'`), strings.Trim(cmp.Or(m[4], m[5]), `"' `)
		switch to := x.find(dir, value, true); {
		case value == "" && key != "":
			stack = append(stack, frame{label: key, indent: indent})
		case to != "":
			texts++
			if !seen[to] {
				seen[to] = true
				title := key
				if key == "" || formatWord.MatchString(key) || labelKey.MatchString(key) {
					title = ""
				}
				list = append(list, listing{to, title, groupOf(stack)})
			}
		case labelKey.MatchString(key):
			texts++
			stack = append(stack, frame{label: value, indent: indent, beside: true})
		default:
			texts++
		}
	}
	if 8*len(list) < texts {
		return nil
	}
	return list
}

// unfold puts the tables of Sphinx into one, each below the page that it stands on.
func unfold(tables map[string][]listing) (all []listing) {
	inner := make(map[string]bool)
	for _, list := range tables {
		for _, l := range list {
			inner[l.path] = true
		}
	}
	var roots []string
	for p, list := range tables {
		if !inner[p] && len(list) > 0 {
			roots = append(roots, p)
		}
	}
	slices.SortFunc(roots, compareBy(func(p string) int { return -len(tables[p]) / 3 }))
	seen := make(map[string]bool)
	var walk func(p, group string, level int)
	walk = func(p, group string, level int) {
		for _, l := range tables[p] {
			if seen[l.path] {
				continue
			}
			seen[l.path] = true
			group := cmp.Or(group, l.group)
			all = append(all, listing{l.path, "", group})
			if level < 6 {
				walk(l.path, group, level+1)
			}
		}
	}
	for _, p := range roots {
		walk(p, "", 0)
	}
	return all
}

var (
	chapterName = regexp.MustCompile(`(?i)^(ch|chap|chapter|part|lesson|week|day|unit|module|lecture)?[-_ ]?(\d+)([-_. ]|$)`)
	frontOrder  = regexp.MustCompile(`(?m)^(?:sidebar_position|weight|order|nav_order|position|sidebar_order|sort): *["']?(\d+)`)
)

// byNumbers orders the pages that carry numbers: in their names, in the names of their folders, or in their front
// matter.
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
		slices.SortFunc(pages, func(a, b numbered) int { return cmp.Or(natural(a.key, b.key), strings.Compare(a.path, b.path)) })
		group := ""
		if len(dirs) > 1 {
			group = humanized(path.Base(dir))
		}
		for _, p := range pages {
			list = append(list, listing{p.path, "", group})
		}
	}
	return list
}

// humanized writes "02-template-syntax" as "Template syntax".
func humanized(name string) string {
	name = strings.NewReplacer("-", " ", "_", " ").Replace(orderMark.ReplaceAllString(name, ""))
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

var number = regexp.MustCompile(`\d+`)

// natural compares as people do, who write "chapter 2" before "chapter 10".
func natural(a, b string) int {
	pad := func(digits string) string { return strings.Repeat("0", max(0, 12-len(digits))) + digits }
	return strings.Compare(number.ReplaceAllStringFunc(a, pad), number.ReplaceAllStringFunc(b, pad))
}
