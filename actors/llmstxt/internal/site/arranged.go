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

// contentFolder matches the folder of the pages, as both frameworks name it.
var contentFolder = lazyregexp.New(`^(?:.*?/)?(?:content|pages)(?:/|$)`)

// arrangedReader returns a reader of the folder in which all the settings lie. It reads it once, for the first of them.
func arrangedReader(framework, name, mark string) reader {
	settings := lazyregexp.New(`(^|/)` + name + `$`)
	return reader{config: settings, mark: mark, read: func(r *Repository, config string) *Site {
		dir := strings.TrimSuffix(contentFolder.FindString(folderOf(config)+"/"), "/")
		dir = cmp.Or(dir, folderOf(config))
		for _, f := range r.under(dir) {
			if f == config {
				break
			} else if settings.MatchString(f) {
				return nil
			}
		}
		for _, language := range []string{"en", "en-US"} {
			if below := path.Join(dir, language); len(r.under(below)) > 0 {
				dir = below
			}
		}
		s := Folder(r, dir)
		if s != nil {
			s.Framework, s.Config = framework, config
			for s.Made = dir; s.Made != "" && r.first(path.Join(s.Made, "next.config.js"), path.Join(s.Made, "next.config.mjs"), path.Join(s.Made, "next.config.ts")) == ""; {
				s.Made = folderOf(s.Made)
			}
			s.Made = cmp.Or(s.Made, ".")
		}
		return s
	}}
}

// arrangement is what the settings of a folder say of the names in it, without extensions.
type arrangement struct {
	title  string         // of the folder
	places map[string]int // from 1; nil if the settings name nothing
	labels map[string]string
	parts  []part
	rest   int // place of the other names; notShown hides them
}

// part is a heading before the names from a place on.
type part struct {
	label string
	place int
}

const notShown = -1

// arrangement reads _meta.js as Nextra does, or meta.json as Fumadocs does.
func (f *plainFolder) arrangement(dir string) *arrangement {
	a, file := &arrangement{labels: make(map[string]string)}, within(f.dir, path.Join(dir, "_meta"))
	if names, ok := f.program(f.first(file+".js", file+".jsx", file+".ts", file+".tsx", file+".json")).(*literal.Object); ok {
		for name, v := range names.All() {
			switch label := cmp.Or(textOf(v), textAt(v, "title")); {
			case textAt(v, "type") == "separator":
				a.part(label)
			case textAt(v, "display") == "hidden", textAt(v, "href") != "":
				a.name(name, "", notShown)
			default:
				a.name(name, label, len(a.places)+1)
			}
		}
		a.rest = len(a.places) + 1
		return a
	}
	settings := f.program(within(f.dir, path.Join(dir, "meta.json")))
	pages, listed := literal.Get(settings, "pages").([]any)
	if a.title = textAt(settings, "title"); listed {
		a.rest = notShown
	}
	for _, page := range pages {
		name := textOf(page)
		switch {
		case strings.HasPrefix(name, "---"):
			a.part(strings.TrimSpace(strings.Trim(name, "-")))
		case name == "...", name == "z...a":
			a.rest = len(a.places) + 1
			a.name("...", "", a.rest)
		case strings.HasPrefix(name, "!"):
			a.name(name[1:], "", notShown)
		default: // links name no page
			a.name(path.Clean(strings.TrimPrefix(name, "...")), "", len(a.places)+1)
		}
	}
	return a
}

func (a *arrangement) name(name, label string, place int) {
	if a.places == nil {
		a.places = make(map[string]int)
	}
	a.places[name], a.labels[name] = place, label
}

func (a *arrangement) part(label string) {
	if label != "" {
		a.parts = append(a.parts, part{label, len(a.places) + 1})
	}
}

// arrange gives a name its place and label. It takes the page from one that is not shown.
func (a *arrangement) arrange(s *spot, name string) {
	place, named := a.places[name]
	if !named && a.places != nil && s.rank > 0 {
		place, named = a.rest, true
	}
	switch {
	case s.Node == nil || !named:
	case place == notShown:
		s.Node = nil
	default:
		s.rank, s.Label = place, cmp.Or(a.labels[name], s.Label)
	}
}
