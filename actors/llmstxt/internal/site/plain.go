package site

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var plainPage = lazyregexp.New(`(?i)\.(mdx?|markdown|rst|adoc|ipynb)$`)

// plainFolder reads a folder of pages that no framework reads.
type plainFolder struct {
	*builder
	dir    string
	in     map[string][]string
	linked map[string]int    // place of each page among the links of an index
	labels map[string]string // of links
}

// Folder returns the pages in a folder, or nil if there is none.
func Folder(r *Repository, dir string) *Site {
	b := newBuilder(r, "", "")
	if b.Root.Children = b.folder(dir); len(b.Root.Children) == 0 {
		return nil
	}
	return b.Site
}

// folder returns the pages in a folder, each folder as a group. Settings order them, or else the index of a folder comes
// first; if it links half of the pages below it, its links give their order and labels. All else is ordered by front
// matter, by numbers at the start of names, and by name.
func (b *builder) folder(dir string) []*Node {
	var pages []string
	for _, p := range b.below(dir) {
		if plainPage.MatchString(p) && !strings.ContainsAny(path.Base(p)[:1], "._") && !privateFolder.MatchString(p) &&
			!b.isTranslation(dir, p) {
			pages = append(pages, p)
		}
	}
	f := &plainFolder{b, dir, folders(pages), make(map[string]int), make(map[string]string)}
	nodes, _ := f.places("", f.arrangement(""))
	return nodes
}

// privateFolder matches paths below folders that are not published, or that hold news.
var privateFolder = lazyregexp.New(`(^|/)([._][^/]*|blog|posts)/`)

// inLanguage matches a page whose name or topmost folder names a language. Its groups are the path without that.
var inLanguage = lazyregexp.New(`^(?:(.+)\.[a-z]{2}(?:-[A-Za-z]{2,4})?(\.\w+)|[a-z]{2}(?:-[A-Za-z]{2,4})?/(.+))$`)

// isTranslation reports whether a page is in a language beside the same page without one.
func (r *Repository) isTranslation(dir, p string) bool {
	m := inLanguage.FindStringSubmatch(p)
	return m != nil && r.has(within(dir, m[1]+m[2]+m[3]))
}

// spot is a place with what orders it in its folder.
type spot struct {
	*Node
	rank, link int
	position   float64
	name       string
}

const noLink, noPosition = 1 << 30, 1e18

// readFirst matches pages and folders that a reader needs before others. In folders, "install" may be a command.
var readFirst = lazyregexp.New(`(?i)((^|/)(introduction|overview|getting[-_ ]?started|quick[-_ ]?start|installation)|^install(ing)?)(\.\w+)?$`)

// places returns the places in a folder with these settings, and the place of the first link to one of them.
func (f *plainFolder) places(dir string, settings *arrangement) (nodes []*Node, first int) {
	names := f.in[dir]
	if i := slices.IndexFunc(names, isIndex); i >= 0 {
		f.follow(dir, path.Join(dir, names[i]))
	}
	var spots []spot
	for _, name := range names {
		s := f.spot(path.Join(dir, name), strings.HasSuffix(name, "/"))
		if settings.arrange(&s, trimExt(strings.TrimSuffix(name, "/"))); s.Node != nil {
			spots = append(spots, s)
		}
	}
	stable.Sort(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.link, b.link), cmp.Compare(a.position, b.position), cmp.Compare(a.name, b.name))
	})
	first = noLink
	list := &nodes
	for _, s := range spots {
		for ; len(settings.parts) > 0 && settings.parts[0].place <= s.rank; settings.parts = settings.parts[1:] {
			part := &Node{Label: settings.parts[0].label}
			nodes, list = append(nodes, part), &part.Children
		}
		*list = append(*list, s.Node)
		first = min(first, s.link)
	}
	return nodes, first
}

// spot returns the place of a page or of a folder; it has no Node if there is nothing to show.
func (f *plainFolder) spot(p string, isFolder bool) spot {
	name, position, numbered := unnumbered(path.Base(p))
	s := spot{rank: 1, link: noLink, position: noPosition, name: strings.ToLower(path.Base(p))}
	if numbered {
		s.position = position
	} else if readFirst.MatchString(p) {
		s.position = noPosition - 1e9
	}
	if isFolder {
		var children []*Node
		settings := f.arrangement(p)
		children, s.link = f.places(p, settings)
		s.Node = group(cmp.Or(settings.title, Readable(strings.Trim(name, "()"))), children)
		return s
	}
	n, matter := f.place(within(f.dir, p))
	if n == nil {
		return s
	}
	n.Label, s.Node = f.labels[p], n
	for _, key := range []string{"position", "sidebar_position", "order", "weight", "nav", "nav_order"} {
		if at, ok := matter.position(key); ok {
			s.position = at
		}
	}
	if isIndex(p) {
		s.rank = 0
	}
	if pos, ok := f.linked[p]; ok {
		s.link = pos
	}
	return s
}

// follow remembers the links of an index if they lead to half of the pages below its folder.
func (f *plainFolder) follow(dir, index string) {
	var found []*listItem
	seen := make(map[string]bool)
	for _, link := range allLinks(f.Text(within(f.dir, index))) {
		link.target = within(dir, link.target)
		if f.has(within(f.dir, link.target)) && plainPage.MatchString(link.target) && link.target != index && !seen[link.target] {
			seen[link.target] = true
			found = append(found, link)
		}
	}
	if 2*len(found) < f.count(dir)-1 {
		return
	}
	for _, link := range found {
		if _, ok := f.linked[link.target]; !ok {
			f.linked[link.target] = len(f.linked)
			if !strings.HasSuffix(link.target, link.label) {
				f.labels[link.target] = link.label
			}
		}
	}
}

// count returns the number of pages below a folder.
func (f *plainFolder) count(dir string) (n int) {
	for _, name := range f.in[dir] {
		if strings.HasSuffix(name, "/") {
			n += f.count(path.Join(dir, name))
		} else {
			n++
		}
	}
	return n
}

// allLinks returns the links of a Markdown text in their order.
func allLinks(markdown string) (links []*listItem) {
	if len(markdown) > maxList {
		return nil
	}
	source := []byte(markdown)
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			links = append(links, linksOf(n, source)...)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return links
}
