package site

import (
	"cmp"
	"path"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// jupyterReader reads the tables of contents of Jupyter Book and MyST.
var jupyterReader = reader{config: lazyregexp.New(`(^|/)(_toc|myst)\.ya?ml$`), read: func(r *Repository, config string) *Site {
	b := newBuilder(r, "Jupyter Book", config)
	dir, toc := folderOf(config), readYAML(r.Text(config))
	if project, ok := mapOf(toc)["project"]; ok {
		toc = mapOf(project)["toc"]
	}
	b.Base = baseURL(mapOf(mapOf(readYAML(r.Text(path.Join(dir, "_config.yml"))))["html"])["baseurl"])
	b.Root.Children = b.contents(dir, toc)
	return b.Site
}}

// contents returns the places of a table of contents: of a list, or of an entry with its parts.
func (b *builder) contents(dir string, toc any) (nodes []*Node) {
	for _, item := range listOf(toc) {
		nodes = append(nodes, b.contents(dir, item)...)
	}
	entry := mapOf(toc)
	if len(entry) == 0 {
		return nodes
	}
	var inside []*Node
	for _, key := range []string{"parts", "chapters", "sections", "children"} {
		inside = append(inside, b.contents(dir, entry[key])...)
	}
	label, name := cmp.Or(entry.text("title"), entry.text("caption"), entry.text("part")), cmp.Or(entry.text("file"), entry.text("root"))
	var page *Node
	if file := within(dir, name); name != "" {
		page = b.node(b.first(file, file+".md", file+".ipynb", file+".rst"), label, trimExt(name)+".html")
	}
	switch {
	case page == nil:
		return append(nodes, join(nil, group(label, inside))...)
	case entry["root"] != nil: // the first page of the book, not of a part
		return append([]*Node{page}, inside...)
	}
	page.Children = inside
	return append(nodes, page)
}
