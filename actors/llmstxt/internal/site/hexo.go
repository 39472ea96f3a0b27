package site

import (
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var hexoReader = reader{config: regexp.MustCompile(`(^|/)source/_data/sidebar\.ya?ml$`), read: readHexo}

// readHexo reads a site of Hexo whose theme takes its sidebar from source/_data: sections with groups of pages. The keys
// are names of translations, never titles.
func readHexo(r *Repository, config string) *Site {
	b := newBuilder(r, "Hexo", config)
	source := folderOf(path.Dir(config))
	settings := mapOf(readYAML(r.Text(r.first(within(source, "../_config.yml"), within(source, "../_config.yaml")))))
	b.Base = baseURL(settings["url"])
	var all yaml.Node
	if err := yaml.Unmarshal([]byte(r.Text(config)), &all); err != nil || len(all.Content) == 0 {
		return nil
	}
	for section, v := range pairs(all.Content[0]) {
		b.Root.Children = join(b.Root.Children, group(readable(section), b.hexoPages(source, section, v, 0)))
	}
	return b.Site
}

// hexoPages returns the pages of a group. Those of a section lie in the folder with its name.
func (b *builder) hexoPages(source, section string, v *yaml.Node, depth int) (nodes []*Node) {
	for name, v := range pairs(v) {
		switch {
		case v.Kind == yaml.ScalarNode:
			page := strings.TrimSuffix(v.Value, ".html")
			file := within(source, path.Join(section, page))
			nodes = join(nodes, b.node(b.first(file+".md", file+"/index.md"), "", path.Join(section, v.Value)))
		case depth < maxToctrees:
			nodes = join(nodes, group(readable(name), b.hexoPages(source, section, v, depth+1)))
		}
	}
	return nodes
}

// pairs yields the keys and values of a YAML map in order.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}
