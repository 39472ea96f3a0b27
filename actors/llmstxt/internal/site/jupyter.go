package site

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/stable"
)

var jupyterReader = reader{config: regexp.MustCompile(`(^|/)_toc\.ya?ml$`), read: readJupyterBook}

// jupyter reads a book of Jupyter Book. Its pages are paths below dir.
type jupyter struct {
	*builder
	dir string
}

func readJupyterBook(r *Repository, config string) *Site {
	j := &jupyter{newBuilder(r, "Jupyter Book", config), folderOf(config)}
	settings := mapOf(readYAML(r.Text(path.Join(j.dir, "_config.yml"))))
	j.Base = baseURL(mapOf(settings["html"])["baseurl"])
	toc := readYAML(r.Text(config))
	j.Root.Children = j.places(listOf(toc))
	book := mapOf(toc)
	if root := book.text("root"); root != "" {
		j.Root.Children = j.places([]any{root})
	}
	j.Root.Children = append(j.Root.Children, j.inside(book)...)
	return j.Site
}

// inside returns the places that an entry of a table of contents holds.
func (j *jupyter) inside(entry front) (nodes []*Node) {
	for _, key := range []string{"parts", "subtrees", "chapters", "sections", "entries"} {
		nodes = append(nodes, j.places(listOf(entry[key]))...)
	}
	return nodes
}

func (j *jupyter) places(entries []any) (nodes []*Node) {
	for _, x := range entries {
		entry := mapOf(x)
		if name, ok := x.(string); ok {
			entry = front{"file": name}
		}
		label := cmp.Or(entry.text("title"), entry.text("caption"), entry.text("part"))
		n := j.file(entry.text("file"), label)
		children := append(j.globbed(entry.text("glob")), j.inside(entry)...)
		switch {
		case n != nil:
			n.Children = append(n.Children, children...)
			nodes = append(nodes, n)
		case label == "":
			nodes = append(nodes, children...)
		default:
			nodes = join(nodes, group(label, children))
		}
	}
	return nodes
}

var jupyterSuffixes = []string{"", ".md", ".ipynb", ".rst", ".txt", ".myst.md"}

// file returns the page that an entry names. A page that is not in its place may stand elsewhere under the same name.
func (j *jupyter) file(name, label string) *Node {
	if name == "" {
		return nil
	}
	base := within(j.dir, name)
	for _, suffix := range jupyterSuffixes {
		if j.has(base + suffix) {
			return j.node(base+suffix, label, trimExt(relative(j.dir, base+suffix))+".html")
		}
	}
	var moved []string
	for _, f := range j.Files {
		if name := path.Base(name); strings.HasPrefix(path.Base(f), name) && slices.Contains(jupyterSuffixes[1:4], strings.TrimPrefix(path.Base(f), name)) {
			moved = append(moved, f)
		}
	}
	stable.Sort(moved, func(a, b string) int { return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")) })
	if len(moved) == 0 {
		moved = []string{base}
	}
	return j.node(moved[0], label, name+".html")
}

func (j *jupyter) globbed(pattern string) (nodes []*Node) {
	for _, p := range matching(j.below(j.dir), pattern) {
		if slices.Contains(jupyterSuffixes[1:], path.Ext(p)) {
			nodes = join(nodes, j.node(within(j.dir, p), "", trimExt(p)+".html"))
		}
	}
	return nodes
}
