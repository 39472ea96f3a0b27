package rank

import (
	"path"
	"regexp"
	"strings"
)

// pageIndex finds pages by their names in links.
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

// find returns the page that a text in a file of the folder refers to, or "".
func (x pageIndex) find(dir, target string) string {
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
		case strings.EqualFold(site, beside) && (named || strings.Contains(target, "/")):
			return p
		case !named && !strings.Contains(clean, "/"):
		case best == "" && strings.HasSuffix("/"+strings.ToLower(site), "/"+strings.ToLower(clean)) &&
			(strings.Contains(clean, "/") || named || strings.HasPrefix(p, dir+"/")):
			best = p
		}
	}
	return best
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

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
