package rank

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site"
)

// configBytes is how much of a site's configuration or page is read for the navigation.
const configBytes = 192 << 10

// leastSite is the number of pages from which on a site's navigation decides which pages are linked.
const leastSite = 4

// findSite finds the documentation site with the most pages, if one has enough.
func (r *ranking) findSite() {
	var files []string
	for i := range r.repo.Files {
		if f := &r.repo.Files[i]; f.Place != scan.Test {
			files = append(files, f.Path)
		}
	}
	repository := site.NewRepository(files, func(p string) string { return r.head(p, configBytes) })
	var found *site.Site
	if all := site.Read(repository); len(all) > 0 {
		found = all[0]
	} else {
		found = site.Folders(repository)
	}
	if found == nil || len(found.Pages()) < leastSite {
		return
	}
	r.site = found
	for _, p := range found.Pages() {
		r.onSite[p] = found.Framework != "" // a folder may hold what no reader should see
	}
}

// followSite takes order, groups and labels of pages from the site, and how well each page deserves a link.
func (r *ranking) followSite() {
	if r.site == nil {
		return
	}
	places := r.site.Ranked()
	for i, p := range places {
		x := r.at[p.Page]
		if x == nil || x.class != classPage {
			continue
		}
		x.listed, x.group, x.label, x.online = p.Order, p.Branch, p.Label, p.URL
		x.Note = cmp.Or(x.Note, p.Description)
		if !p.Late {
			x.place = i + 1
			x.add(1.22*(1-0.5*float64(i)/float64(len(places))), r.site.String())
		}
	}
	r.count()
}

// byPlace puts the README first, then pages in the order in which the site's navigation speaks for them, then others by
// points.
func (r *ranking) byPlace(x, y *item) int {
	if x.Path == r.readme.Path || y.Path == r.readme.Path {
		return boolToInt(y.Path == r.readme.Path) - boolToInt(x.Path == r.readme.Path)
	}
	if x.place > 0 && y.place > 0 {
		return x.place - y.place
	}
	return cmp.Or(boolToInt(y.place > 0)-boolToInt(x.place > 0), byPoints(x, y))
}

// StyleSite makes links lead to the pages of the documentation site.
const StyleSite = "site"

// onlineAt returns the URL of a page on its site, or "" if links lead elsewhere or the page's address is not certain.
func (r *ranking) onlineAt(x *item) string {
	if r.options.LinkStyle != StyleSite || r.site == nil || r.site.Base == "" || x.online == "" {
		return ""
	}
	return r.site.Base + "/" + escapePath(strings.TrimPrefix(x.online, "/"))
}
