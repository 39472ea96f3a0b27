package site

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var hugoReader = reader{
	config: lazyregexp.New(`(^|/)(hugo|config)\.(toml|ya?ml|json)$`),
	read:   readHugo,
}

// hugo reads a site of Hugo. Pages are paths below dir.
type hugo struct {
	*builder
	dir, end  string
	language  string   // of the pages that are read
	languages []string // all
	in        map[string][]string
}

func readHugo(r *Repository, config string) *Site {
	settings := hugoSettings(r, config)
	if !slices.ContainsFunc([]string{"baseURL", "baseurl", "languageCode", "theme", "module", "contentDir"},
		func(key string) bool { return settings[key] != nil }) {
		return nil
	}
	h := &hugo{builder: newBuilder(r, "Hugo", config), end: "/"}
	h.Base = cmp.Or(baseURL(settings["baseURL"]), baseURL(settings["baseurl"]))
	h.language = cmp.Or(settings.text("defaultContentLanguage"), "en")
	for language := range mapOf(settings["languages"]) {
		h.languages = append(h.languages, language)
	}
	if settings["uglyURLs"] == true {
		h.end = ".html"
	}
	h.dir = h.content(settings)
	h.in = folders(h.below(h.dir))
	if root := h.section(""); root != nil {
		h.Root.Children = root.Children
		root.Children = nil
		if root.Page != "" {
			h.Root.Children = append([]*Node{root}, h.Root.Children...)
		}
	}
	return h.Site
}

func hugoSettings(r *Repository, config string) front {
	text := r.Text(config)
	switch path.Ext(config) {
	case ".toml":
		return readTOML(text)
	case ".json":
		return mapOf(readJSON(text))
	}
	return mapOf(readYAML(text))
}

// content returns the folder of the pages in the language of the site.
func (h *hugo) content(settings front) string {
	root := folderOf(strings.Replace("/"+h.Config, "/config/_default/", "/", 1))
	root = strings.TrimPrefix(root, "/")
	language := mapOf(mapOf(settings["languages"])[h.language])
	dir := within(root, cmp.Or(language.text("contentDir"), settings.text("contentDir"), "content"))
	if below := path.Join(dir, h.language); len(h.under(below)) > 0 {
		return below
	}
	return dir
}

var hugoPage = lazyregexp.New(`\.(md|markdown|html|adoc|org)$`)

// name returns the name of a page without its language and extension. ok is false for pages in other languages, and
// for files that are no pages.
func (h *hugo) name(file string) (name string, ok bool) {
	if !hugoPage.MatchString(file) {
		return "", false
	}
	name = trimExt(file)
	language := strings.TrimPrefix(path.Ext(name), ".")
	if language == h.language {
		return trimExt(name), true
	}
	return name, !slices.Contains(h.languages, language)
}

// ordered is a place with what orders it in its section.
type ordered struct {
	*Node
	weight      float64
	date, title string
}

// section returns a folder with its page and the places in it. A page "index" has no places below it.
func (h *hugo) section(dir string) *Node {
	n := &Node{URL: strings.ToLower(dir) + "/"}
	if dir == "" {
		n.URL = ""
	}
	var list []ordered
	for _, file := range h.in[dir] {
		switch name, ok := h.name(file); {
		case !ok || name != "_index" && name != "index":
		case !h.own(n, path.Join(dir, file)):
			return nil
		case name == "index":
			return n
		}
	}
	if n.Page == "" {
		n.Label = Readable(path.Base(dir))
	}
	for _, file := range h.in[dir] {
		place := h.placeOf(dir, file)
		if place == nil {
			continue
		}
		f := front{}
		if place.Page != "" {
			f = frontMatter(h.Text(place.Page))
		}
		o := ordered{place, noPosition, fmt.Sprint(cmp.Or[any](f["date"], "")), cmp.Or(place.Label, place.Title)}
		if weight, ok := f.position("weight"); ok && weight != 0 {
			o.weight = weight
		}
		list = append(list, o)
	}
	stable.Sort(list, func(a, b ordered) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.date, a.date), cmp.Compare(a.title, b.title))
	})
	for _, o := range list {
		n.Children = append(n.Children, o.Node)
	}
	if n.Page == "" && len(n.Children) == 0 {
		return nil
	}
	return n
}

// placeOf returns the place of a name in a section, or nil.
func (h *hugo) placeOf(dir, file string) *Node {
	if strings.HasSuffix(file, "/") {
		return h.section(path.Join(dir, file))
	}
	name, ok := h.name(file)
	if !ok || name == "_index" || name == "index" {
		return nil
	}
	n := &Node{URL: strings.ToLower(path.Join(dir, name)) + h.end}
	if !h.own(n, path.Join(dir, file)) {
		return nil
	}
	return n
}

// own gives a page to a Node. It is false for pages that the site does not show.
func (h *hugo) own(n *Node, file string) bool {
	p, f := h.place(within(h.dir, file))
	build := cmp.Or(mapOf(f["build"]).text("list"), mapOf(f["_build"]).text("list"))
	if p == nil || f.flag("headless") || f.flag("toc_hide") || f.flag("bookHidden") || build == "never" ||
		mapOf(f["sidebar"]).flag("exclude") {
		return false
	}
	p.Label, p.URL, p.Children = f.text("linkTitle"), n.URL, n.Children
	if slug := f.text("slug"); slug != "" && !isIndex(file) {
		p.URL = strings.ToLower(path.Join(path.Dir(file), slug)) + h.end
	}
	if url := f.text("url"); url != "" {
		p.URL = strings.TrimPrefix(url, "/")
	}
	*n = *p
	return true
}
