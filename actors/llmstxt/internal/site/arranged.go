package site

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// nextraReader and fumadocsReader read folders of pages that have a file of settings in each folder.
var (
	nextraReader   = arrangedReader("Nextra", `_meta(\.global)?\.([jt]sx?|json)`, "")
	fumadocsReader = arrangedReader("Fumadocs", `meta\.json`, `"pages"`)
)

// contentFolder matches the folder of the pages in English, as both frameworks name it, with the folder of the programs.
var contentFolder = lazyregexp.New(`^(.*?)(?:/?src)?/?\b(?:content|pages)/(?:en/|en-US/)?`)

// arrangedReader returns a reader of the folder in which all the settings lie. It reads it once, for the first of them.
func arrangedReader(framework, name, mark string) reader {
	settings := lazyregexp.New(`(^|/)` + name + `$`)
	return reader{config: settings, mark: mark, read: func(r *Repository, config string) *Site {
		dir, b := folderOf(config), newBuilder(r, framework, config)
		b.Made = dir
		if m := contentFolder.FindStringSubmatch(dir + "/"); m != nil {
			dir, b.Made = strings.TrimSuffix(m[0], "/"), m[1]
		}
		b.Made = cmp.Or(b.Made, ".")
		for _, f := range r.under(dir) {
			if f == config {
				break
			} else if settings.MatchString(f) {
				return nil
			}
		}
		b.Root.Children = b.folder(dir)
		return b.Site
	}}
}

// arrangement is what the settings of a folder say of the names in it, without extensions.
type arrangement struct {
	title  string         // of the folder
	places map[string]int // from 1
	labels map[string]string
	parts  []part
	rest   int // place of all other names; notShown hides them
}

// part is a heading before the names from a place on.
type part struct {
	label string
	place int
}

const notShown = -1

// arrangement reads _meta.js as Nextra does, or meta.json as Fumadocs does.
func (f *plainFolder) arrangement(dir string) *arrangement {
	file := within(f.dir, path.Join(dir, "_meta"))
	a := &arrangement{places: make(map[string]int), labels: make(map[string]string)}
	next := func() int { return len(a.places) + 1 }
	if names, ok := f.program(f.first(file+".js", file+".jsx", file+".ts", file+".tsx", file+".json")).(*literal.Object); ok {
		for name, v := range names.All() {
			switch label := cmp.Or(textOf(v), textAt(v, "title")); {
			case textAt(v, "type") == "separator":
				a.parts = append(a.parts, part{label, next()})
			case textAt(v, "display") == "hidden", textAt(v, "href") != "":
				a.places[name] = notShown
			default:
				a.places[name], a.labels[name] = next(), label
			}
		}
		a.rest = next()
		return a
	}
	settings := f.program(within(f.dir, path.Join(dir, "meta.json")))
	a.title, a.rest = textAt(settings, "title"), notShown
	pages, _ := literal.Get(settings, "pages").([]any)
	for _, page := range pages {
		switch name := textOf(page); {
		case strings.HasPrefix(name, "---"):
			a.parts = append(a.parts, part{strings.TrimSpace(strings.Trim(name, "-")), next()})
		case name == "...", name == "z...a":
			a.rest = next()
			a.places[name] = a.rest
		case strings.HasPrefix(name, "!"):
			a.places[name[1:]] = notShown
		default: // links name no page
			a.places[path.Clean(strings.TrimPrefix(name, "..."))] = next()
		}
	}
	return a
}

// arrange gives a name its place and label. It takes the page from one that is not shown.
func (a *arrangement) arrange(s *spot, name string) {
	place, named := a.places[name]
	if !named {
		place = a.rest
	}
	switch {
	case s.Node == nil, len(a.places) == 0, !named && s.rank == 0: // an index stays the first
	case place == notShown:
		s.Node = nil
	default:
		s.rank, s.Label = place, cmp.Or(a.labels[name], s.Label)
	}
}
