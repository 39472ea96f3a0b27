package site

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var vitepressReader = reader{config: lazyregexp.New(`(^|/)\.v(ite|ue)press/config(/index)?\.[cm]?[jt]s$`), read: readVitePress}

// vitepress reads a site of VitePress or VuePress.
type vitepress struct {
	*builder
	vue   bool
	dir   string            // of the pages
	base  string            // path of the site, with slashes around it
	clean bool              // URLs have no extension
	moved map[string]string // the file of a page that is published elsewhere
	links []link            // of the navigation bar
}

// link is a link in the navigation bar.
type link struct{ to, label string }

func readVitePress(r *Repository, config string) *Site {
	v := &vitepress{builder: newBuilder(r, "VitePress", config), vue: strings.Contains(config, ".vuepress/")}
	if v.vue {
		v.Framework = "VuePress"
	}
	c := r.program(config)
	root, _, _ := strings.Cut("/"+config, "/.v")
	v.Made = cmp.Or(strings.Trim(root, "/"), ".")
	v.dir = within(strings.TrimPrefix(root, "/"), textAt(c, "srcDir"))
	v.base = strings.TrimSuffix("/"+strings.Trim(textAt(c, "base"), "/"), "/") + "/"
	v.clean = literal.Get(c, "cleanUrls") == true
	if v.Base = baseURL(literal.Get(c, "sitemap", "hostname")); v.Base != "" {
		v.Base = strings.TrimSuffix(v.Base, strings.TrimSuffix(v.base, "/")) + strings.TrimSuffix(v.base, "/")
	}
	v.Markdown = strings.Contains(r.Text(config), "vitepress-plugin-llms")
	v.rewrites(literal.Get(c, "rewrites"))
	settings := themes(c)
	nav := setting(settings, "nav", "navbar")
	v.navbar(nav)
	v.sidebars(setting(settings, "sidebar"))
	if len(v.Pages()) == 0 { // a program makes the sidebar
		v.Root.Children = append(v.nodes(nav, ""), v.folder(v.dir)...)
	}
	return v.Site
}

// themes returns the settings of the theme and of the main language.
func themes(c any) []any {
	theme := literal.Get(c, "themeConfig")
	if made, ok := literal.Get(c, "theme").(literal.Unknown); ok && len(made.Args) > 0 {
		theme = made.Args[0]
	}
	all := []any{theme}
	for _, v := range []any{c, theme} {
		if locales, ok := literal.Get(v, "locales").(*literal.Object); ok {
			language := mainLanguage(locales)
			all = append(all, literal.Get(language, "themeConfig"), language)
		}
	}
	return all
}

// mainLanguage returns the settings of the root language, else of English, else of the first.
func mainLanguage(locales *literal.Object) any {
	var main any
	best := 0
	for key, v := range locales.All() {
		rank := 1
		if key == "root" || key == "/" {
			rank = 3
		} else if strings.HasPrefix(strings.Trim(key, "/"), "en") {
			rank = 2
		}
		if rank > best {
			main, best = v, rank
		}
	}
	return main
}

// setting returns the first of the settings with one of the names.
func setting(settings []any, names ...string) any {
	for _, s := range settings {
		for _, name := range names {
			if v := literal.Get(s, name); v != nil {
				return v
			}
		}
	}
	return nil
}

// navbar collects the links of the navigation bar.
func (v *vitepress) navbar(items any) {
	list, _ := items.([]any)
	for _, item := range list {
		if to := textAt(item, "link"); to != "" {
			v.links = append(v.links, link{to, textAt(item, "text")})
		}
		v.navbar(literal.Get(item, "items"))
	}
}

// sidebars adds the sidebar, or the sidebars with the paths that show them.
func (v *vitepress) sidebars(sidebar any) {
	bars, ok := sidebar.(*literal.Object)
	if !ok {
		v.Root.Children = v.nodes(sidebar, "")
		return
	}
	type keyed struct {
		key, label string
		place      int
		items      any
	}
	var all []keyed
	for key, items := range bars.All() {
		k := keyed{key, Readable(path.Base(strings.Trim(key, "/"))), len(v.links), items}
		if i := slices.IndexFunc(v.links, func(l link) bool { return strings.HasPrefix(l.to, key) }); i >= 0 {
			k.place, k.label = i, cmp.Or(v.links[i].label, k.label)
		}
		all = append(all, k)
	}
	stable.Sort(all, func(a, b keyed) int { return a.place - b.place })
	for _, k := range all {
		base := textAt(k.items, "base")
		if v.vue {
			base = k.key
		}
		if items := literal.Get(k.items, "items"); items != nil {
			k.items = items
		}
		if nodes := v.nodes(k.items, base); len(all) == 1 {
			v.Root.Children = nodes
		} else {
			v.Root.Children = join(v.Root.Children, group(k.label, nodes))
		}
	}
}

// nodes returns the places that items of a sidebar name, with links below a base.
func (v *vitepress) nodes(items any, base string) (nodes []*Node) {
	for _, item := range asList(items) {
		label, to := cmp.Or(textAt(item, "text"), textAt(item, "title")), literal.Get(item, "link")
		if to == nil {
			to = literal.Get(item, "path")
		}
		switch x := item.(type) {
		case string: // of VuePress
			to = x
		case []any: // path and title
			x = append(x, nil, nil)
			to, label = x[0], textOf(x[1])
		}
		below := base
		if b := cmp.Or(textAt(item, "base"), textAt(item, "prefix")); b != "" {
			below = v.join(base, b)
		}
		nodes = join(nodes, v.place(label, to, below, v.children(item, below)))
	}
	return nodes
}

func (v *vitepress) children(item any, base string) []*Node {
	children := literal.Get(item, "items")
	if children == nil {
		children = literal.Get(item, "children")
	}
	return v.nodes(children, base)
}

// place returns the place of an item.
func (v *vitepress) place(label string, to any, base string, children []*Node) *Node {
	label = strings.TrimSpace(tags.ReplaceAllString(label, ""))
	n := group(label, children)
	target, ok := to.(string)
	if !ok || external.MatchString(target) || strings.HasPrefix(target, "#") {
		return n
	}
	file, url := v.find(v.join(base, target))
	if file == "" {
		file, url = v.find(target)
	}
	if page := v.node(file, label, url); page != nil {
		page.Children = children
		return page
	}
	return n
}

var tags = lazyregexp.New(`<[^>]*>`)

// join returns a link below a base. VuePress takes links that begin with a slash as they are.
func (v *vitepress) join(base, to string) string {
	if base == "" || v.vue && strings.HasPrefix(to, "/") {
		return to
	}
	return strings.TrimRight(base, "/") + "/" + strings.TrimLeft(to, "/")
}

var pageSuffix = lazyregexp.New(`\.(html|md)$`)

// find returns the file of a link and the path of its page, or "".
func (v *vitepress) find(to string) (file, url string) {
	to, _, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	to = strings.TrimPrefix("/"+strings.TrimLeft(to, "/"), v.base)
	name := pageSuffix.ReplaceAllString(strings.TrimLeft(to, "/"), "")
	candidates := []string{name + ".md", name + "/index.md", name + "/README.md"}
	if name == "" || strings.HasSuffix(name, "/") {
		candidates = []string{name + "index.md", name + "README.md"}
	}
	for _, page := range candidates {
		if file := within(v.dir, cmp.Or(v.moved[page], page)); v.has(file) {
			return file, v.url(page)
		}
	}
	return "", ""
}

func (v *vitepress) url(page string) string {
	name := trimExt(page)
	if base := path.Base(name); base == "index" || base == "README" {
		return strings.TrimSuffix(name, base)
	} else if v.clean {
		return name
	}
	return name + ".html"
}

var (
	restParam = lazyregexp.New(`:(\w+)(?:\*|\(\.\*\))`)
	pathParam = lazyregexp.New(`:(\w+)\*?`)
)

// rewrites reads where files are published: patterns of paths, such as "en/:rest*" for ":rest*".
func (v *vitepress) rewrites(setting any) {
	v.moved = make(map[string]string)
	o, _ := setting.(*literal.Object)
	if o == nil {
		return
	}
	pages := v.below(v.dir)
	for source, to := range o.All() {
		pattern := pathParam.ReplaceAllString(restParam.ReplaceAllString(source, "(?P<$1>.*)"), "(?P<$1>[^/]+)")
		re, err := regexp.Compile("^" + pattern + "$")
		for _, page := range pages {
			if err == nil && re.MatchString(page) {
				v.moved[re.ReplaceAllString(page, pathParam.ReplaceAllString(textOf(to), "$${$1}"))] = page
			}
		}
	}
}
