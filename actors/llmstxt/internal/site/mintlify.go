package site

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var mintlifyReader = reader{config: lazyregexp.New(`(^|/)(docs|mint)\.json$`), mark: `"navigation"`, read: readMintlify}

// mintlify reads a site of Mintlify.
type mintlify struct {
	*builder
	dir string
}

func readMintlify(r *Repository, config string) *Site {
	m := &mintlify{newBuilder(r, "Mintlify", config), folderOf(config)}
	settings := mapOf(readJSON(r.Text(config)))
	m.Base = baseURL(mapOf(mapOf(settings["seo"])["metatags"])["canonical"])
	m.Markdown = true
	m.Root.Children = m.places(settings["navigation"])
	return m.Site
}

var (
	mintlifyNames  = []string{"group", "tab", "anchor", "dropdown", "version", "language", "product", "item", "name"}
	mintlifyLevels = []string{"languages", "versions", "products", "tabs", "anchors", "dropdowns", "menu", "groups", "pages"}
)

// places returns the places of a list, of a page, or of a level of the navigation.
func (m *mintlify) places(v any) (nodes []*Node) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			nodes = append(nodes, m.places(x)...)
		}
	case string:
		return join(nil, m.pageOf(v))
	case map[string]any:
		return m.level(v)
	}
	return nodes
}

func (m *mintlify) level(level front) (nodes []*Node) {
	if level.flag("hidden") {
		return nil
	}
	if root := level.text("root"); root != "" {
		nodes = join(nodes, m.pageOf(root))
	}
	for _, key := range mintlifyLevels {
		v := level[key]
		if key == "languages" || key == "versions" {
			v = preferred(listOf(v))
		}
		nodes = append(nodes, m.places(v)...)
	}
	for _, key := range mintlifyNames {
		if label := level.text(key); label != "" && key != "language" {
			return join(nil, group(label, nodes))
		}
	}
	return nodes
}

// preferred returns the language or version that readers get: the default, else English, else the first.
func preferred(list []any) any {
	for _, x := range list {
		if mapOf(x).flag("default") {
			return x
		}
	}
	for _, x := range list {
		if strings.HasPrefix(mapOf(x).text("language"), "en") {
			return x
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (m *mintlify) pageOf(name string) *Node {
	name = strings.Trim(name, "/")
	file := within(m.dir, name)
	file = cmp.Or(m.first(file+".mdx", file+".md"), file)
	n, f := m.place(file)
	if n == nil || f.flag("hidden") {
		return nil
	}
	n.Label, n.URL = f.text("sidebarTitle"), name
	if path.Base(name) == "index" {
		n.URL = strings.TrimSuffix(strings.TrimSuffix(name, "index"), "/")
	}
	return n
}
