package site

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

var starlightReader = reader{config: lazyregexp.New(`(^|/)astro\.config\.[cm]?[jt]s$`), mark: "starlight", read: readStarlight}

// starlight reads a site of Starlight.
type starlight struct {
	*builder
	language string // folder of the pages and first part of their URLs, or ""
	names    map[string][]string
	pages    map[string]*starlightPage // by paths below the language
	slugs    map[string]*starlightPage
	orders   map[string]float64 // of pages, and the least in each folder
}

type starlightPage struct {
	file, slug, label string
	order             float64
	hidden            bool // in lists that are generated
}

func readStarlight(r *Repository, config string) *Site {
	s := &starlight{builder: newBuilder(r, "Starlight", config)}
	c := r.program(config)
	s.Made = path.Dir(config)
	if s.Base = baseURL(literal.Get(c, "site")); s.Base != "" {
		s.Base = strings.TrimRight(s.Base+"/"+strings.Trim(textAt(c, "base"), "/"), "/")
	}
	options := integration(literal.Get(c, "integrations"))
	locales, _ := literal.Get(options, "locales").(*literal.Object)
	s.language = mainFolder(locales, textAt(options, "defaultLocale"))
	s.collect(path.Join(folderOf(config), "src/content/docs"), locales)
	if sidebar := literal.Get(options, "sidebar"); sidebar != nil {
		s.Root.Children = s.nodes(sidebar)
	} else {
		s.Root.Children = s.generated("")
	}
	return s.Site
}

// integration returns the argument of the call of starlight in a list, which may have lists in it.
func integration(v any) any {
	list, _ := v.([]any)
	for _, item := range list {
		call, ok := item.(literal.Unknown)
		if ok && strings.Contains(strings.ToLower(call.Name), "starlight") && len(call.Args) > 0 {
			return call.Args[0]
		}
		if options := integration(item); options != nil {
			return options
		}
	}
	return nil
}

// mainFolder returns the folder of the main language, and "" if its pages are at the top.
func mainFolder(locales *literal.Object, language string) string {
	if locales == nil || literal.Get(locales, "root") != nil {
		return ""
	}
	for key := range locales.All() {
		language = cmp.Or(language, key)
	}
	return language
}

var starlightFile = lazyregexp.New(`\.(md|mdx|mdoc)$`)

// collect reads the pages of the main language.
func (s *starlight) collect(dir string, locales *literal.Object) {
	s.pages, s.slugs = make(map[string]*starlightPage), make(map[string]*starlightPage)
	s.orders = make(map[string]float64)
	var paths []string
	for _, p := range s.below(path.Join(dir, s.language)) {
		top, _, nested := strings.Cut(p, "/")
		foreign := s.language == "" && nested && literal.Get(locales, top) != nil
		if !starlightFile.MatchString(p) || strings.HasPrefix(p, "_") || strings.Contains(p, "/_") || foreign {
			continue
		}
		page := s.read(path.Join(dir, s.language, p), p)
		paths = append(paths, p)
		s.pages[p], s.slugs[page.slug] = page, page
		for at := p; at != ""; at = folderOf(at) {
			if least, ok := s.orders[at]; !ok || page.order < least {
				s.orders[at] = page.order
			}
		}
	}
	s.names = folders(paths)
}

var notInSlug = lazyregexp.New(`[^\pL\pN_/ -]`)

func (s *starlight) read(file, p string) *starlightPage {
	f := frontMatter(s.Text(file))
	sidebar := mapOf(f["sidebar"])
	slug := strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(trimExt(p)), ""), " ", "-")
	slug = strings.TrimPrefix(strings.TrimSuffix("/"+slug, "/index"), "/")
	page := &starlightPage{file, cmp.Or(strings.Trim(f.text("slug"), "/"), slug), sidebar.text("label"), math.Inf(1), sidebar.flag("hidden")}
	if order, ok := sidebar.position("order"); ok {
		page.order = order
	}
	return page
}

// nodes returns the places that the items of a sidebar name.
func (s *starlight) nodes(items any) (nodes []*Node) {
	for _, item := range asList(items) {
		label, to := textAt(item, "label"), cmp.Or(textAt(item, "slug"), textAt(item, "link"))
		if slug, ok := item.(string); ok {
			to = slug
		}
		var found []*Node
		switch directory, ok := literal.Get(item, "autogenerate", "directory").(string); {
		case external.MatchString(to):
			continue
		case to != "":
			nodes = join(nodes, s.linked(to, label))
			continue
		case ok:
			found = s.generated(strings.Trim(directory, "/"))
		default:
			found = s.nodes(literal.Get(item, "items"))
		}
		if label == "" {
			nodes = append(nodes, found...)
		} else {
			nodes = join(nodes, group(label, found))
		}
	}
	return nodes
}

// linked returns the page of a slug or link.
func (s *starlight) linked(to, label string) *Node {
	to, _, _ = strings.Cut(to, "#")
	slug := strings.TrimSuffix("/"+strings.Trim(to, "/"), "/index")
	slug = strings.Trim(slug, "/")
	for _, slug := range []string{slug, strings.ToLower(slug)} {
		if page := s.slugs[slug]; page != nil {
			return s.place(page, label)
		}
	}
	return nil
}

func (s *starlight) place(page *starlightPage, label string) *Node {
	url := strings.TrimPrefix(path.Join(s.language, page.slug)+"/", "/")
	return s.node(page.file, cmp.Or(label, page.label), url)
}

// generated returns the places in a folder: by their order, then by their slugs.
func (s *starlight) generated(dir string) (nodes []*Node) {
	names := slices.Clone(s.names[dir])
	stable.Sort(names, func(a, b string) int {
		a, b = path.Join(dir, a), path.Join(dir, b)
		return cmp.Or(cmp.Compare(s.orders[a], s.orders[b]), cmp.Compare(s.slug(a), s.slug(b)))
	})
	for _, name := range names {
		p := path.Join(dir, name)
		if page := s.pages[p]; page == nil {
			nodes = join(nodes, group(path.Base(p), s.generated(p)))
		} else if !page.hidden {
			nodes = join(nodes, s.place(page, ""))
		}
	}
	return nodes
}

func (s *starlight) slug(p string) string {
	if page := s.pages[p]; page != nil {
		return page.slug
	}
	return p
}
