package rank

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
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
	if !slices.ContainsFunc(site.Read(repository), r.takeSite) {
		r.takeSite(site.Folders(repository))
	}
}

// takeSite takes the site if it has enough pages.
func (r *ranking) takeSite(s *site.Site) bool {
	if s == nil || len(s.Pages()) < leastSite {
		return false
	}
	r.site = s
	for _, p := range s.Pages() {
		r.onSite[p] = s.Framework != "" // a folder may hold what no reader should see
	}
	return true
}

// makesSite reports whether a file is a program of the documentation site, or the README for those who build it.
func (r *ranking) makesSite(f *scan.File) bool {
	if r.site == nil || r.site.Made == "" || r.onSite[f.Path] || f.Path == r.readme.Path {
		return false
	}
	return r.site.Made == "." && f.Kind == scan.Source && r.units[0].About.Private ||
		strings.HasPrefix(f.Path, r.site.Made+"/") && (f.Kind != scan.Document || page.IsReadme(f.Path) && path.Dir(f.Path) == r.site.Made)
}

// followSite takes order, groups and labels of pages from the site, and how well each page deserves a link.
func (r *ranking) followSite() {
	var places []site.Place
	if r.site != nil {
		places = r.site.Ranked()
	}
	for i, p := range places {
		x := r.at[p.Page]
		if x == nil || x.class != classPage {
			continue
		}
		x.listed, x.group, x.label, x.online = p.Order, p.Branch, p.Label, p.URL
		var names []string
		for _, c := range p.Children[:min(len(p.Children), mostNamed)] {
			names = append(names, cmp.Or(c.Label, c.Title, site.Readable(stemOf(c.Page))))
		}
		x.Note, x.Contents = cmp.Or(x.Note, p.Description), strings.Join(names, ", ")
		if !p.Late {
			x.place = i + 1
			x.add(1.22*(1-0.5*float64(i)/float64(len(places))), r.site.String())
		}
	}
	r.followReadme()
}

// followReadme groups pages by the headings below which the README lists them, if no navigation and no folders group them.
func (r *ranking) followReadme() {
	if slices.ContainsFunc(r.items, func(x *item) bool { return x.group != "" }) {
		return
	}
	var listed []*item
	var headings []string
	heading, sizes := "", map[string]int{}
	for line := range strings.Lines(r.readmeText) {
		if text := strings.TrimLeft(line, "#"); len(text) < len(line) && strings.HasPrefix(text, " ") {
			heading = emoji.ReplaceAllString(prose.Clean(strings.TrimSpace(text)), "")
		}
		for _, target := range strings.Split(line, "](")[1:] {
			target, _, _ = strings.Cut(target, ")")
			if !listItem.MatchString(line) {
				continue
			}
			x := r.at[r.pageAt(path.Dir(r.readme.Path), target)]
			if x != nil && x.class == classPage && heading != "" && !strings.ContainsAny(heading, "[]<") && !slices.Contains(listed, x) {
				listed, headings = append(listed, x), append(headings, heading)
				sizes[heading]++
			}
		}
	}
	maps.DeleteFunc(sizes, func(_ string, pages int) bool { return pages < leastInGroup })
	for i, x := range listed {
		if len(sizes) > 1 && sizes[headings[i]] > 0 {
			x.group, x.listed = headings[i], i+1
		}
	}
}

// Styles of links that lead to the pages of the documentation site: always, or if two sources agree where it is.
const (
	StyleSite = "site"
	StyleAuto = "auto"
)

// Home is where a documentation site is published.
type Home struct {
	URL     string // without a slash at its end; "" if nothing tells
	From    string // the file that tells
	Witness string // another file that names the URL; "" if none does
}

// findHome finds where the site is published: its configuration tells, or else a CNAME file. The README, a manifest or a
// workflow may bear witness.
func (r *ranking) findHome() {
	if r.site == nil {
		return
	}
	r.home = Home{URL: r.site.Base, From: r.site.Config}
	for _, f := range r.repo.Files {
		if r.home.URL == "" && path.Base(f.Path) == "CNAME" {
			if name := r.head(f.Path, 1<<10); hostName.MatchString(name) {
				r.home = Home{URL: "https://" + strings.TrimSpace(name), From: f.Path}
			}
		}
	}
	if _, address, ok := strings.Cut(r.home.URL, "://"); ok {
		r.home.Witness = r.witness(address)
	}
}

// witness returns the first file that names the address, apart from the one that tells it.
func (r *ranking) witness(address string) string {
	whole := regexp.MustCompile(regexp.QuoteMeta(address) + `([^.-]|\.?\s|\.?$)`) // and not of a host whose name goes on
	for _, f := range r.repo.Files {
		may := f.Path == r.readme.Path || f.Kind == scan.Manifest && depth(f.Path) < 2 || strings.HasPrefix(f.Path, ".github/workflows/")
		if may && f.Path != r.home.From && whole.MatchString(r.head(f.Path, readmeBytes)) {
			return f.Path
		}
	}
	return ""
}

var listItem = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)]|\|) `)

var hostName = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+\s*$`)

// onlineAt returns the URL of a page on its site, or "" if links lead elsewhere or the page's address is not certain.
// Where the site serves the text of its pages, it is the URL of the text.
func (r *ranking) onlineAt(x *item) string {
	style := r.options.LinkStyle
	if style != StyleSite && (style != StyleAuto || r.home.Witness == "") || r.home.URL == "" || x.online == "" {
		return ""
	}
	at := strings.TrimPrefix(x.online, "/")
	if r.site.Markdown {
		at = strings.TrimSuffix(strings.TrimSuffix(at, "/"), ".html") + ".md"
	}
	return r.home.URL + "/" + escapePath(at)
}
