package site

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var mdbookReader = reader{config: lazyregexp.New(`(^|/)book\.toml$`), read: readMdBook}

func readMdBook(r *Repository, config string) *Site {
	settings := readTOML(r.Text(config))
	b := newBuilder(r, "mdBook", config)
	src := within(folderOf(config), cmp.Or(mapOf(settings["book"]).text("src"), "src"))
	html := mapOf(mapOf(settings["output"])["html"])
	b.Base = baseURL(html["site-url"])
	if host := html.text("cname"); host != "" {
		b.Base = baseURL("https://" + path.Join(host, html.text("site-url")))
	}
	items := listItems(r.Text(within(src, "SUMMARY.md")))
	b.Root.Children = listed(parts(items), func(label, target string) *Node {
		url := path.Clean(trimExt(target) + ".html")
		if stem(target) == "README" {
			url = strings.TrimSuffix(url, "README.html") + "index.html"
		}
		return b.node(within(src, target), label, url)
	})
	return b.Site
}

// gitbookReader reads a SUMMARY.md without a book.toml, in the form of GitBook and HonKit.
var gitbookReader = reader{config: lazyregexp.New(`(^|/)SUMMARY\.md$`), read: func(r *Repository, config string) *Site {
	dir := folderOf(config)
	if slices.ContainsFunc(r.Files, func(f string) bool {
		return path.Base(f) == "book.toml" && strings.HasPrefix("/"+config, path.Join("/", path.Dir(f)))
	}) {
		return nil
	}
	b := newBuilder(r, "GitBook", config)
	b.Root.Children = listed(listItems(r.Text(config)), func(label, target string) *Node {
		url := trimExt(target)
		if isIndex(target) {
			url = strings.TrimPrefix(folderOf(target)+"/", "/")
		}
		return b.node(within(dir, target), label, url)
	})
	return b.Site
}}

// parts returns the items of a summary: only headings of level 1 after the first heading name a part.
func parts(items []*listItem) (list []*listItem) {
	title := true
	for _, item := range items {
		if item.heading > 1 || item.heading == 1 && title {
			list = append(list, item.items...)
		} else {
			list = append(list, item)
		}
		title = title && item.heading == 0
	}
	return list
}

// readTOML returns the values of a TOML text.
func readTOML(text string) front {
	f := front{}
	_ = toml.Unmarshal([]byte(text), &f) // what cannot be read is no configuration
	return f
}
