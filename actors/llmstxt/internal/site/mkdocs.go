package site

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var mkdocsReader = reader{config: lazyregexp.New(`(^|/)mkdocs\.ya?ml$`), read: readMkDocs}

// mkdocsNavReader reads the one of several configurations that has the navigation.
var mkdocsNavReader = reader{config: lazyregexp.New(`(^|/)mkdocs([.-]\w+)+\.ya?ml$`), mark: "nav:", read: readMkDocs}

// mkdocs reads a site of MkDocs. Its pages are paths below dir.
type mkdocs struct {
	*builder
	config  front
	dir     string
	prefix  string // of the URLs, for a site that another includes
	pages   []string
	folders map[string][]string
	summary string          // name of the file of the literate-nav plugin, or ""
	entered map[string]bool // folders whose navigation stands already
	listed  map[string]bool // what the navigation of its folder names
}

func readMkDocs(r *Repository, config string) *Site {
	m := newMkDocs(newBuilder(r, "MkDocs", config), config)
	m.Base = baseURL(m.config["site_url"])
	for _, u := range textsOf(m.config["site_url"]) { // !ENV [NAME, default]
		m.Base = cmp.Or(m.Base, baseURL(u))
	}
	m.Root.Children = m.all()
	return m.Site
}

func newMkDocs(b *builder, config string) *mkdocs {
	m := &mkdocs{builder: b, config: mapOf(readYAML(b.Text(config))), entered: make(map[string]bool), listed: make(map[string]bool)}
	dir := folderOf(config)
	if parent := m.config.text("INHERIT"); parent != "" {
		m.config = inherit(mapOf(readYAML(b.Text(within(dir, parent)))), m.config)
	}
	m.dir = within(dir, cmp.Or(m.config.text("docs_dir"), "docs"))
	if plugin, ok := mkdocsPlugin(m.config, "literate-nav"); ok {
		m.summary = cmp.Or(plugin.text("nav_file"), "SUMMARY.md")
	}
	m.pages = m.published()
	m.folders = folders(m.pages)
	return m
}

// inherit returns a file's settings, with what it inherits from another file.
func inherit(parent, child front) front {
	merged := maps.Clone(parent)
	for k, v := range child {
		if over, ok := v.(map[string]any); ok {
			v = map[string]any(inherit(mapOf(merged[k]), over))
		}
		merged[k] = v
	}
	return merged
}

// mkdocsPlugin returns the settings of a plugin, and whether the site uses it.
func mkdocsPlugin(config front, name string) (front, bool) {
	if plugin, ok := mapOf(config["plugins"])[name]; ok {
		return mapOf(plugin), true
	}
	for _, item := range listOf(config["plugins"]) {
		if label, value := entry(item); label == name || value == name {
			return mapOf(value), true
		}
	}
	return nil, false
}

var mkdocsPage = lazyregexp.New(`(?i)\.(md|markdown|mdown|mkdn?|ipynb)$`)

// published returns the pages that the site has, sorted.
func (m *mkdocs) published() (pages []string) {
	rules := ignore.Bounded(context.Background(), 1<<26).
		With("", ".*\n/templates/\n"+m.config.text("exclude_docs")+"\n"+m.config.text("draft_docs"))
	for _, p := range m.below(m.dir) {
		name := path.Base(p)
		hidden := name == m.summary || name == "README.md" && m.has(within(m.dir, path.Join(path.Dir(p), "index.md")))
		if mkdocsPage.MatchString(p) && !hidden && !excluded(rules, p) {
			pages = append(pages, p)
		}
	}
	return pages
}

// excluded reports whether rules exclude a path or a folder above it.
func excluded(rules *ignore.Rules, p string) bool {
	for i, c := range p {
		if c == '/' && rules.Match(p[:i], true) == ignore.Leave {
			return true
		}
	}
	return rules.Match(p, false) == ignore.Leave
}

// all returns the navigation of the site.
func (m *mkdocs) all() []*Node {
	if nav := listOf(m.config["nav"]); len(nav) > 0 {
		return m.nav("", nav)
	}
	return m.section("")
}

// nav returns the places that a list names: of the configuration, or of the file .pages or .nav.yml of a folder.
func (m *mkdocs) nav(dir string, list []any) (nodes []*Node) {
	for _, item := range list {
		label, value := entry(item)
		if children := listOf(value); children != nil {
			nodes = join(nodes, group(label, m.nav(dir, children)))
		} else {
			nodes = append(nodes, m.target(dir, label, textOf(value))...)
		}
	}
	return nodes
}

// target returns the places that a text in a navigation names.
func (m *mkdocs) target(dir, label, name string) (nodes []*Node) {
	if config, ok := strings.CutPrefix(name, "!include "); ok {
		return join(nil, m.include(label, strings.TrimSpace(config)))
	}
	if label != "" && strings.Contains(name, "*") { // the title is that of a section
		return join(nil, group(label, m.target(dir, "", name)))
	}
	for _, p := range m.named(dir, name) {
		nodes = join(nodes, m.placeOf(p, label))
	}
	return nodes
}

// named returns the paths of the pages and folders that a text names. Links out of the site name none, and "..." names
// the pages and folders of the folder that nothing else names.
func (m *mkdocs) named(dir, name string) (paths []string) {
	p := path.Join(dir, name)
	switch {
	case name == "" || mkdocsLink.MatchString(name):
	case strings.HasPrefix(name, "..."):
		for _, name := range stable.Sorted(slices.Values(m.folders[dir]), mkdocsOrder) {
			if p := path.Join(dir, name); !m.listed[p] {
				paths = append(paths, p)
			}
		}
		if m.settings(dir).text("order") == "desc" {
			slices.Reverse(paths)
		}
	case strings.Contains(name, "*"):
		return matching(slices.Concat(m.pages, slices.Sorted(maps.Keys(m.folders))), p)
	case p == ".":
		return []string{""}
	default:
		return []string{p}
	}
	return paths
}

// placeOf returns the Node of a page, or of a folder.
func (m *mkdocs) placeOf(p, label string) *Node {
	if m.folders[p] == nil {
		return m.pageAt(p, label)
	}
	settings := m.settings(p)
	if settings.flag("hide") {
		return nil
	}
	return group(cmp.Or(label, settings.text("title"), Readable(path.Base(p))), m.section(p))
}

// settings returns the file of a folder that says its title and order, as the plugins awesome-pages and awesome-nav read it.
func (m *mkdocs) settings(dir string) front {
	dir = within(m.dir, dir)
	return mapOf(readYAML(m.Text(m.first(path.Join(dir, ".pages"), path.Join(dir, ".nav.yml")))))
}

var mkdocsLink = lazyregexp.New(`^([a-z][a-z+.-]*:|/|#)`)

// include returns the navigation of another site, as the monorepo plugin does.
func (m *mkdocs) include(label, config string) *Node {
	file := within(folderOf(m.Config), config)
	if m.prefix != "" || !m.has(file) {
		return nil
	}
	other := newMkDocs(m.builder, file)
	name := other.config.text("site_name")
	other.prefix = strings.ToLower(strings.ReplaceAll(name, " ", "-")) + "/"
	return group(cmp.Or(label, name), other.all())
}

// pageAt returns the Node of a page, and nil for a file that is no page.
func (m *mkdocs) pageAt(page, label string) *Node {
	page, _, _ = strings.Cut(page, "#")
	if _, ok := slices.BinarySearch(m.pages, page); !ok {
		return nil
	}
	return m.node(within(m.dir, page), label, m.prefix+m.url(page))
}

// url returns the path of a page: a folder, unless use_directory_urls is false.
func (m *mkdocs) url(page string) string {
	name := trimExt(page)
	if base := path.Base(name); base == "index" || base == "README" {
		name = strings.TrimSuffix(name, base) + "index"
	}
	if m.config["use_directory_urls"] == false {
		return name + ".html"
	}
	if folder, ok := strings.CutSuffix("/"+name, "/index"); ok {
		return strings.TrimPrefix(folder+"/", "/")
	}
	return name + "/"
}

// section returns the places in a folder: as its summary or its navigation lists them, or all.
func (m *mkdocs) section(dir string) []*Node {
	if m.entered[dir] {
		return nil
	}
	m.entered[dir] = true
	if summary := within(m.dir, path.Join(dir, m.summary)); m.summary != "" && m.has(summary) {
		return m.summarized(dir, listItems(m.Text(summary)))
	}
	settings := m.settings(dir)
	nav := append(listOf(settings["nav"]), listOf(settings["arrange"])...)
	if nav == nil {
		nav = []any{"..."}
	}
	m.list(dir, nav)
	return m.nav(dir, nav)
}

// list remembers what a navigation names, so that "..." leaves it out.
func (m *mkdocs) list(dir string, nav []any) {
	for _, item := range nav {
		_, value := entry(item)
		m.list(dir, listOf(value))
		if name := textOf(value); !strings.HasPrefix(name, "...") {
			for _, p := range m.named(dir, name) {
				m.listed[p] = true
			}
		}
	}
}

// mkdocsOrder puts the page of a folder first, and folders last.
func mkdocsOrder(a, b string) int {
	rank := func(name string) int {
		switch base := trimExt(name); {
		case strings.HasSuffix(name, "/"):
			return 2
		case base == "index" || base == "README":
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// summarized returns the places of a summary of the literate-nav plugin.
func (m *mkdocs) summarized(dir string, items []*listItem) (nodes []*Node) {
	for _, item := range items {
		found := m.target(dir, item.label, item.target)
		if item.target == "" && strings.Contains(item.label, "*") {
			found = m.target(dir, "", item.label)
		}
		if children := m.summarized(dir, item.items); len(found) == 1 {
			found[0].Children = append(found[0].Children, children...)
		} else if len(found) == 0 {
			found = join(nil, group(item.label, children))
		}
		nodes = append(nodes, found...)
	}
	return nodes
}
