package llmstxt

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// resolver finds the files that the links of an llms.txt point to.
type resolver struct {
	dir     string // folder of the llms.txt
	home    string // the repository's page; "" if unknown
	prefix  string // folder of the repository that is read, with a slash at its end; "" for all
	files   map[string]bool
	folders map[string]bool
	stems   map[string][]string  // files by the last part of their paths, without extension
	ranked  map[string]rank.Link // by URL and by path
}

// newResolver indexes the files, and the links backward: of several to one file, the first counts.
func newResolver(index *rank.Index, name string, files []string) resolver {
	r := resolver{dir: path.Dir(name), home: index.Origin.Remote, prefix: index.Origin.Prefix + "/", files: make(map[string]bool), folders: make(map[string]bool),
		stems: make(map[string][]string), ranked: make(map[string]rank.Link)}
	for _, f := range files {
		r.files[f] = true
		for dir := path.Dir(f); dir != "." && !r.folders[dir]; dir = path.Dir(dir) {
			r.folders[dir] = true
		}
		if ext := path.Ext(f); ext == ".md" || ext == ".mdx" || ext == ".rst" {
			r.stems[path.Base(stem(f))] = append(r.stems[path.Base(stem(f))], f)
		}
	}
	for _, s := range slices.Backward(index.Sections) {
		for _, l := range slices.Backward(s.Links) {
			r.ranked[l.Path], r.ranked[l.URL] = l, l
		}
	}
	return r
}

// link returns the link with the file that it points to, if that belongs to the repository. If the analysis lists the
// file too, its URL is used, because that leads to the commit that was read. What an earlier run has written is renewed.
func (f ownFile) link(txtLink TxtLink) (link rank.Link, ok bool) {
	if prose.Instructs(txtLink.Note) {
		txtLink.Note = ""
	}
	p, inside := f.path(txtLink.URL)
	id := f.digest(txtLink, p)
	if f.before.wrote(id, txtLink) {
		if link, ok = f.ranked[txtLink.URL]; !ok {
			link, ok = f.ranked[p]
		}
		return link, ok
	}
	link = rank.Link{Title: txtLink.Title, URL: txtLink.URL, Note: txtLink.Note, Reasons: []string{ownReason}}
	if p == "" {
		return link, !inside
	}
	link.Path = p
	if ours, listed := f.ranked[p]; listed {
		link.Score, link.Symbols = ours.Score, ours.Symbols
		if link.Note == "" && !f.before.offered(id) {
			link.Note = ours.Note
		}
		if inside && !strings.Contains(ours.URL, "#") && !strings.Contains(txtLink.URL, "#") {
			link.URL = ours.URL
		}
	}
	return link, true
}

// path returns the file that a URL points to. inside: the URL points to a file of the repository, which may no longer
// exist.
func (r resolver) path(address string) (p string, inside bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" && !strings.HasPrefix(u.Scheme, "http") {
		return "", true
	}
	if u.Scheme == "" {
		for _, p := range []string{path.Join(r.dir, u.Path), strings.TrimPrefix(path.Clean("/"+u.Path), "/")} {
			if strings.HasSuffix(u.Path, "/") && r.folders[p] {
				return p + "/", true
			}
			for _, end := range []string{"", ".md", ".mdx"} {
				if r.files[p+end] {
					return p + end, true
				}
			}
		}
		return "", true
	}
	if parts := hosted.FindStringSubmatch(u.Host + u.Path); parts != nil {
		p := strings.TrimSuffix(strings.TrimPrefix(parts[1], r.prefix), "/")
		if r.files[p] {
			return p, true
		}
		if r.folders[p] {
			return p + "/", true
		}
		return "", r.home != "" && strings.HasPrefix(address, r.home+"/")
	}
	return r.published(u.Path), false
}

// hosted matches the path in a host's page for a file, or in its raw file.
var hosted = lazyregexp.New(`^(?:raw\.githubusercontent\.com/[^/]+/[^/]+/(?:refs/heads/)?|` +
	`.*?/(?:blob|tree|raw)/|[^/]+/[^/]+/[^/]+/src/(?:branch/)?)[^/]+/(.*)$`)

// published returns the one page whose path ends with the path on the website; "" if there is none or several.
func (r resolver) published(p string) string {
	want := strings.Trim(stem(strings.TrimSuffix(p, ".html.md")), "/")
	found := ""
	for _, f := range r.stems[path.Base(want)] {
		if strings.HasSuffix("/"+stem(f), "/"+want) {
			if found != "" {
				return ""
			}
			found = f
		}
	}
	return found
}

func stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }
