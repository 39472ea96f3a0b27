package site

import (
	"cmp"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// hexoReader reads the map of folders, groups and pages from which themes of Hexo make their sidebar.
var hexoReader = reader{config: lazyregexp.New(`(^|/)source/_data/sidebar\.ya?ml$`), read: readHexo}

func readHexo(r *Repository, config string) *Site {
	b := newBuilder(r, "Hexo", config)
	source := path.Dir(path.Dir(config))
	setting := mapOf(readYAML(r.Text(path.Join(path.Dir(source), "_config.yml"))))
	b.Base = baseURL(strings.TrimRight(setting.text("url"), "/") + "/" + strings.Trim(setting.text("root"), "/"))
	var read func(n *yaml.Node, dir string) []*Node
	read = func(n *yaml.Node, dir string) (list []*Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			switch {
			case value.Kind == yaml.ScalarNode: // its key names a translation, and is no title
				list = join(list, b.node(within(source, path.Join(dir, trimExt(value.Value)+".md")), "", path.Join(dir, value.Value)))
			default: // the outermost keys are folders
				list = join(list, group(Readable(key), read(value, cmp.Or(dir, key))))
			}
		}
		return list
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte(r.Text(config)), &doc) == nil && len(doc.Content) > 0 {
		b.Root.Children = read(doc.Content[0], "")
	}
	return b.Site
}
