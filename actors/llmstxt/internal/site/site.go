package site

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Node is a place in a site's navigation: a page, a group of places, or a group with its own page.
type Node struct {
	Label       string // in the navigation; "" if the page's own title is shown
	Title       string // the title in the page's front matter, or ""
	Description string // in the page's front matter, or ""
	Page        string // path of the page in the repository; "" for groups without one, and for pages that are generated
	URL         string // path of the page below the site's base, without a leading slash
	Children    []*Node
}

// Site is a documentation site.
type Site struct {
	Framework string // its name as its makers write it
	Config    string // path of the configuration
	Base      string // URL of the site without a slash at its end; "" if the configuration has none
	Made      string // folder whose programs make the site; "" if a tool makes it from data
	Markdown  bool   // the text of a page is served at the page's URL with .md at its end
	Root      Node   // has no label and no page
}

// Repository is what the readers see of a repository.
type Repository struct {
	Files []string                 // paths, sorted
	Text  func(path string) string // the text of a file; "" if it cannot be read
	known map[string]bool
}

// NewRepository returns a Repository.
func NewRepository(files []string, text func(path string) string) *Repository {
	r := &Repository{files, text, make(map[string]bool, len(files))}
	for _, f := range files {
		r.known[f] = true
	}
	return r
}

// has reports whether the repository has the file.
func (r *Repository) has(file string) bool { return r.known[file] }

// under returns the files below a folder; "" is the root.
func (r *Repository) under(dir string) []string {
	if dir == "" || dir == "." {
		return r.Files
	}
	dir += "/"
	from, _ := slices.BinarySearch(r.Files, dir)
	n := 0
	for from+n < len(r.Files) && strings.HasPrefix(r.Files[from+n], dir) {
		n++
	}
	return r.Files[from : from+n]
}

// first returns the first of the files that the repository has, or "".
func (r *Repository) first(files ...string) string {
	for _, f := range files {
		if r.has(f) {
			return f
		}
	}
	return ""
}

// within returns the path of a name in a folder. It is "" for a name that leads out of the repository.
func within(dir, name string) string {
	p := path.Join(dir, name)
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return ""
	}
	return p
}

// reader reads the site that a configuration describes. It returns a Site without pages if there is none.
type reader struct {
	config *lazyregexp.Regexp // matches the base names or paths of its configurations
	mark   string             // what a configuration contains
	read   func(r *Repository, config string) *Site
}

// readers are the frameworks, each in its own file.
var readers = slices.Concat(scripted, described)

// elsewhere matches folders whose sites do not document the project.
var elsewhere = lazyregexp.New(`(^|/)(examples?|templates?|tests?|e2e|fixtures?|__\w+__|node_modules|playgrounds?|starter|boilerplate)(/|$)`)

// Read returns the sites of a repository, the one with the most pages first.
func Read(r *Repository) []*Site {
	var all []*Site
	for _, f := range r.Files {
		if elsewhere.MatchString(path.Dir(f)) {
			continue
		}
		for _, reader := range readers {
			if reader.config.MatchString(f) && (reader.mark == "" || strings.Contains(r.Text(f), reader.mark)) {
				if s := reader.read(r, f); s != nil && len(s.Pages()) > 0 {
					all = append(all, s)
				}
			}
		}
	}
	stable.Sort(all, func(a, b *Site) int { return len(b.Pages()) - len(a.Pages()) })
	return all
}

// documentation matches folders of pages that document a project.
var documentation = lazyregexp.New(`(?i)^(docs?|documentation|guides?|book|manual|wiki|handbook|content)$`)

// Folders returns the folders of documentation at the root of a repository as one site, for a repository whose site no
// framework makes. It is nil if there is none.
func Folders(r *Repository) *Site {
	all, last := &Site{}, ""
	for _, f := range r.Files {
		dir, _, below := strings.Cut(f, "/")
		if below && dir != last && documentation.MatchString(dir) {
			if s := Folder(r, dir); s != nil {
				all.Root.Children = append(all.Root.Children, &Node{Label: Readable(dir), Children: s.Root.Children})
			}
		}
		last = dir
	}
	switch len(all.Root.Children) {
	case 0:
		return nil
	case 1:
		all.Root.Children = all.Root.Children[0].Children
	}
	return all
}

// String says where the navigation was read.
func (s *Site) String() string {
	if s.Framework == "" {
		return "in the folder of documentation"
	}
	return "in the navigation of the site (" + s.Framework + ")"
}

// Pages returns the paths of all pages in the order of the navigation, each once.
func (s *Site) Pages() (pages []string) {
	seen := make(map[string]bool)
	var walk func(n *Node)
	walk = func(n *Node) {
		if n.Page != "" && !seen[n.Page] {
			seen[n.Page] = true
			pages = append(pages, n.Page)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(&s.Root)
	return pages
}
