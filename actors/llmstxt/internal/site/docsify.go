package site

import (
	"cmp"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var docsifyReader = reader{config: lazyregexp.New(`(^|/)_sidebar\.md$`), read: readDocsify}

var docsifySetting = lazyregexp.New(`\b(basePath|homepage|routerMode):\s*['"]([^'"]*)['"]`)

func readDocsify(r *Repository, config string) *Site {
	b := newBuilder(r, "Docsify", config)
	dir, settings := docsifySite(r, folderOf(config))
	prefix := "#/"
	if settings.text("routerMode") == "history" {
		prefix = ""
	}
	page := func(label, target string) *Node {
		target = strings.TrimPrefix(path.Join("/", target), "/")
		file := within(dir, target)
		file = cmp.Or(r.first(file, file+".md", path.Join(file, "README.md")), file)
		url := strings.TrimSuffix(relative(dir, file), ".md")
		return b.node(file, label, prefix+strings.TrimSuffix(url, "README"))
	}
	home := page("", cmp.Or(settings.text("homepage"), "README.md"))
	if home != nil {
		home.URL = prefix
	}
	b.Root.Children = append(join(nil, home), listed(listItems(r.Text(config)), page)...)
	return b.Site
}

// docsifySite returns the folder of the pages of a site, and its settings: those in the nearest index.html above.
func docsifySite(r *Repository, sidebar string) (dir string, settings front) {
	settings = front{}
	for dir := sidebar; ; dir = folderOf(dir) {
		if page := r.Text(path.Join(dir, "index.html")); strings.Contains(page, "$docsify") {
			for _, m := range docsifySetting.FindAllStringSubmatch(page, -1) {
				settings[m[1]] = m[2]
			}
			base := settings.text("basePath")
			if external.MatchString(base) {
				base = ""
			}
			return strings.TrimPrefix(within(dir, strings.Trim(base, "/")), "."), settings
		}
		if dir == "" {
			return sidebar, settings
		}
	}
}
