package site

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var plainPage = lazyregexp.New(`(?i)\.(mdx?|markdown|rst|adoc|ipynb)$`)

// plainFolder reads a folder of pages that no framework reads.
type plainFolder struct {
	*builder
	dir string
	in  map[string][]string
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
// first, and all else is ordered by front matter, by numbers at the start of names, and by name.
func (b *builder) folder(dir string) []*Node {
	var pages []string
	for _, p := range b.below(dir) {
		if plainPage.MatchString(p) && !strings.HasPrefix(p, ".") && !strings.HasPrefix(p, "_") && !privateFolder.MatchString(p) &&
			!b.isTranslation(dir, p) {
			pages = append(pages, p)
		}
	}
	return (&plainFolder{b, dir, folders(pages)}).places("")
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
	rank     int
	position float64
	name     string
}

const noPosition = 1e18

// places returns the places in a folder.
func (f *plainFolder) places(dir string) (nodes []*Node) {
	names, settings := f.in[dir], f.arrangement(dir)
	var spots []spot
	for _, name := range names {
		s := f.spot(path.Join(dir, name), strings.HasSuffix(name, "/"))
		if settings.arrange(&s, trimExt(strings.TrimSuffix(name, "/"))); s.Node != nil {
			spots = append(spots, s)
		}
	}
	stable.Sort(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.position, b.position), cmp.Compare(a.name, b.name))
	})
	list := &nodes
	for _, s := range spots {
		for ; len(settings.parts) > 0 && settings.parts[0].place <= s.rank; settings.parts = settings.parts[1:] {
			part := &Node{Label: settings.parts[0].label}
			nodes, list = append(nodes, part), &part.Children
		}
		*list = append(*list, s.Node)
	}
	return nodes
}

// spot returns the place of a page or of a folder; it has no Node if there is nothing to show.
func (f *plainFolder) spot(p string, isFolder bool) spot {
	name, position, numbered := unnumbered(path.Base(p))
	s := spot{rank: 1, position: noPosition, name: strings.ToLower(path.Base(p))}
	if numbered {
		s.position = position
	}
	if isFolder {
		s.Node = group(cmp.Or(f.arrangement(p).title, Readable(strings.Trim(name, "()"))), f.places(p))
		return s
	}
	n, matter := f.place(within(f.dir, p))
	if n == nil {
		return s
	}
	s.Node = n
	for _, key := range []string{"position", "sidebar_position", "order", "weight", "nav", "nav_order"} {
		if at, ok := matter.position(key); ok {
			s.position = at
		}
	}
	if isIndex(p) {
		s.rank = 0
	}
	return s
}
