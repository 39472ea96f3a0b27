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

var docusaurusReader = reader{config: lazyregexp.New(`(^|/)docusaurus\.config\.[cm]?[jt]s$`), read: readDocusaurus}

// docusaurus reads a site of Docusaurus: the sidebars of all its instances of the docs plugin.
type docusaurus struct {
	*builder
	config any
	dir    string
	tabs   []tab
	bars   []sidebar
}

// tab is an item of the navigation bar: it names a sidebar, a plugin or a path.
type tab struct{ sidebar, plugin, to, label string }

type sidebar struct {
	place int // among the tabs
	label string
	nodes []*Node
}

func readDocusaurus(r *Repository, config string) *Site {
	d := &docusaurus{builder: newBuilder(r, "Docusaurus", config), config: r.program(config), dir: folderOf(config)}
	d.Made = path.Dir(config)
	if d.Base = baseURL(literal.Get(d.config, "url")); d.Base != "" {
		d.Base = strings.TrimRight(d.Base+"/"+strings.Trim(textAt(d.config, "baseUrl"), "/"), "/")
	}
	d.navbar(literal.Get(d.config, "themeConfig", "navbar", "items"))
	for _, options := range d.instances() {
		newDocs(d, options).sidebars()
	}
	stable.Sort(d.bars, func(a, b sidebar) int { return a.place - b.place })
	for _, bar := range d.bars {
		if len(d.bars) == 1 {
			d.Root.Children = bar.nodes
		} else {
			d.Root.Children = join(d.Root.Children, group(bar.label, bar.nodes))
		}
	}
	return d.Site
}

// navbar collects the tabs.
func (d *docusaurus) navbar(items any) {
	list, _ := items.([]any)
	for _, item := range list {
		d.tabs = append(d.tabs, tab{textAt(item, "sidebarId"), textAt(item, "docsPluginId"), textAt(item, "to"), textAt(item, "label")})
		d.navbar(literal.Get(item, "items"))
	}
}

// instances returns the options of each instance of the docs plugin.
func (d *docusaurus) instances() (all []any) {
	presets, _ := literal.Get(d.config, "presets").([]any)
	for _, preset := range presets {
		if pair, ok := preset.([]any); ok && len(pair) > 1 {
			if docs := literal.Get(pair[1], "docs"); docs != false {
				all = append(all, docs)
			}
		} else if ok || preset == "classic" || preset == "@docusaurus/preset-classic" {
			all = append(all, nil)
		}
	}
	plugins, _ := literal.Get(d.config, "plugins").([]any)
	for _, plugin := range plugins {
		if pair, ok := plugin.([]any); ok && len(pair) > 1 && strings.Contains(textOf(pair[0]), "content-docs") {
			all = append(all, pair[1])
		}
	}
	if presets == nil && all == nil {
		all = []any{nil}
	}
	return all
}

// docs is an instance of the docs plugin.
type docs struct {
	*docusaurus
	options    any
	dir, route string
	names      map[string][]string // in each folder
	paths      map[string]*doc     // by paths below dir
	ids        map[string]*doc
}

type doc struct {
	file, url, label string
	id               string
	position         float64
	placed, hidden   bool // placed: has a position
	index            bool // is the page of its folder
}

func newDocs(d *docusaurus, options any) *docs {
	s := &docs{docusaurus: d, options: options, paths: make(map[string]*doc), ids: make(map[string]*doc)}
	s.dir = within(d.dir, cmp.Or(textAt(options, "path"), "docs"))
	s.route = strings.Trim(cmp.Or(textAt(options, "routeBasePath"), "docs"), "/")
	var exclude []*regexp.Regexp
	list, _ := literal.Get(options, "exclude").([]any)
	for _, pattern := range list {
		exclude = append(exclude, glob(textOf(pattern)))
	}
	var pages []string
	for _, p := range s.below(s.dir) {
		excluded := slices.ContainsFunc(exclude, func(re *regexp.Regexp) bool { return re.MatchString(p) })
		if docusaurusPage.MatchString(p) && !docusaurusHidden.MatchString(p) && !excluded {
			pages = append(pages, p)
			s.paths[p] = s.doc(p)
			s.ids[s.paths[p].id] = s.paths[p]
		}
	}
	s.names = folders(pages)
	return s
}

var (
	docusaurusPage   = lazyregexp.New(`\.mdx?$`)
	docusaurusHidden = lazyregexp.New(`(^|/)(_|.*\.test\.)`)
)

// doc returns the page at a path.
func (s *docs) doc(p string) *doc {
	f := frontMatter(s.Text(path.Join(s.dir, p)))
	prefixed := f["parse_number_prefixes"] != false && literal.Get(s.options, "numberPrefixParser") != false
	var dirs []string
	if dir := folderOf(p); dir != "" {
		dirs = strings.Split(dir, "/")
	}
	d := &doc{file: path.Join(s.dir, p), label: f.text("sidebar_label"), hidden: f.flag("draft") || f.flag("unlisted")}
	name, raw := stem(p), append([]string{""}, dirs...)[len(dirs)]
	if prefixed {
		name, d.position, d.placed = unnumbered(name)
		for i := range dirs {
			dirs[i], _, _ = unnumbered(dirs[i])
		}
	}
	if n, ok := f.position("sidebar_position"); ok {
		d.position, d.placed = n, true
	}
	folder, last := path.Join(dirs...), append([]string{""}, dirs...)[len(dirs)]
	base := cmp.Or(f.text("id"), name)
	d.id = path.Join(folder, base)
	d.index = isIndex(p) ||
		last != "" && (strings.EqualFold(stem(p), raw) || strings.EqualFold(name, last))
	slug := f.text("slug")
	switch {
	case strings.HasPrefix(slug, "/"):
	case slug != "":
		slug = path.Join("/", folder, slug)
	case d.index:
		slug = folder
	default:
		slug = d.id
	}
	d.url = strings.TrimPrefix(path.Join("/", s.route, path.Clean("/"+slug)), "/")
	if d.url != "" && literal.Get(s.config, "trailingSlash") == true {
		d.url += "/"
	}
	return d
}

var (
	numbered  = lazyregexp.New(`^(\d+)\s*[-_.]+\s*([^-_.\s].*)$`)
	dateLike  = lazyregexp.New(`^((\d{2}|\d{4})[-_.]\d{2}([-_.]|$)|\d+[-_.]\d+)`)
	docSuffix = lazyregexp.New(`(?i)[-_ ]?sidebar$`)
)

// unnumbered returns a name without the number before it. Dates and versions are no such numbers.
func unnumbered(name string) (rest string, n float64, ok bool) {
	m := numbered.FindStringSubmatch(name)
	if m == nil || dateLike.MatchString(name) {
		return name, 0, false
	}
	for _, digit := range m[1] {
		n = n*10 + float64(digit-'0')
	}
	return m[2], n, true
}

// sidebars adds the instance's sidebars to the site's.
func (s *docs) sidebars() {
	file, setting := "", literal.Get(s.options, "sidebarPath")
	switch v := setting.(type) {
	case bool:
		return
	case string:
		file = within(s.docusaurus.dir, v)
	case literal.Unknown:
		file = within(s.docusaurus.dir, "sidebars")
	}
	if file = s.first(file, file+".js", file+".ts", file+".json"); file == "" {
		s.bar("", s.generated(""))
		return
	}
	bars, ok := s.program(file).(*literal.Object)
	if !ok {
		s.bar("", s.nodes(s.program(file)))
		return
	}
	for name, items := range bars.All() {
		s.bar(name, s.nodes(items))
	}
}

// bar adds a sidebar. The navigation bar orders and labels it.
func (s *docs) bar(name string, nodes []*Node) {
	id := textAt(s.options, "id")
	i := slices.IndexFunc(s.tabs, func(t tab) bool {
		to := strings.Trim(t.to, "/")
		return name != "" && t.sidebar == name || id != "" && t.plugin == id || s.route != "" && (to == s.route || strings.HasPrefix(to, s.route+"/"))
	})
	b := sidebar{len(s.tabs), Readable(cmp.Or(docSuffix.ReplaceAllString(name, ""), id, name, path.Base(s.dir))), nodes}
	if i >= 0 {
		b.place, b.label = i, cmp.Or(s.tabs[i].label, b.label)
	}
	if len(nodes) > 0 {
		s.bars = append(s.bars, b)
	}
}

// nodes returns the places that the items of a sidebar name.
func (s *docs) nodes(items any) (nodes []*Node) {
	for _, item := range asList(items) {
		if id, ok := item.(string); ok {
			nodes = join(nodes, s.place(s.ids[id], ""))
			continue
		}
		o, ok := item.(*literal.Object)
		if !ok {
			continue
		}
		switch label := textAt(o, "label"); textAt(o, "type") {
		case "doc", "ref":
			nodes = join(nodes, s.place(s.ids[textAt(o, "id")], label))
		case "autogenerated":
			nodes = append(nodes, s.generated(path.Join(".", textAt(o, "dirName")))...)
		case "link", "html":
		case "category":
			nodes = join(nodes, s.category(o))
		default:
			nodes = append(nodes, s.short(o)...)
		}
	}
	return nodes
}

// short returns the places of an item without a type: labels with their items.
func (s *docs) short(o *literal.Object) (nodes []*Node) {
	for label, items := range o.All() {
		nodes = join(nodes, group(label, s.nodes(items)))
	}
	return nodes
}

func (s *docs) category(o *literal.Object) *Node {
	n := &Node{}
	if link := literal.Get(o, "link"); textAt(link, "type") == "doc" {
		n = cmp.Or(s.place(s.ids[textAt(link, "id")], ""), n)
	} else {
		n.Description = textAt(link, "description")
	}
	n.Label = textAt(o, "label")
	if n.Children = s.nodes(literal.Get(o, "items")); n.Children == nil && n.Page == "" {
		return nil
	}
	return n
}

// place returns a Node of a page, and nil for pages that are hidden, missing, or stand elsewhere already.
func (s *docs) place(d *doc, label string) *Node {
	if d == nil || d.hidden {
		return nil
	}
	return s.node(d.file, cmp.Or(label, d.label), d.url)
}
