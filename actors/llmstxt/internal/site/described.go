package site

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
)

// described are the frameworks whose configuration is data, and those that have none.
var described = []reader{mkdocsReader, mkdocsNavReader, sphinxReader, mdbookReader, gitbookReader, mintlifyReader, hugoReader,
	exdocReader, doccReader, docsifyReader, hexoReader, jupyterReader, nextraReader, fumadocsReader}

// builder adds pages to a site, each once.
type builder struct {
	*Repository
	*Site
	seen map[string]bool
}

func newBuilder(r *Repository, framework, config string) *builder {
	return &builder{r, &Site{Framework: framework, Config: config}, make(map[string]bool)}
}

// place returns a Node of a page and its front matter. It is nil if the page is a draft, missing, or stands already.
func (b *builder) place(file string) (*Node, front) {
	if !b.has(file) || b.seen[file] {
		return nil, nil
	}
	b.seen[file] = true
	n, f := b.page(file)
	if f.flag("draft") {
		return nil, nil
	}
	return n, f
}

// node returns a Node of a page with its label and URL, or nil as place does.
func (b *builder) node(file, label, url string) *Node {
	n, _ := b.place(file)
	if n != nil {
		n.Label, n.URL = label, url
	}
	return n
}

// group returns a Node of a group, and nil for one without children.
func group(label string, children []*Node) *Node {
	if len(children) == 0 {
		return nil
	}
	return &Node{Label: label, Children: children}
}

// join appends a Node to a list unless it is nil.
func join(list []*Node, n *Node) []*Node {
	if n == nil {
		return list
	}
	return append(list, n)
}

// notPublished matches hosts that do not publish a site: placeholders of templates, and forges.
var notPublished = regexp.MustCompile(`(^|\.)(example\.(com|org|net)|localhost|github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)$|your-docusaurus`)

// baseURL returns the URL of a site as its configuration has it, without a slash at its end. It is "" for placeholders.
func baseURL(setting any) string {
	u, err := url.Parse(textOf(setting))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || notPublished.MatchString(strings.ToLower(u.Hostname())) {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return strings.TrimRight(u.String(), "/")
}

// readYAML returns the value of a YAML text. It accepts all tags.
func readYAML(text string) (v any) {
	_ = yaml.Unmarshal([]byte(text), &v) // what can be read stays
	return v
}

// readJSON returns the value of a JSON text. It accepts comments, and commas after last items.
func readJSON(text string) any {
	return dataOf(literal.Read(".json", func(string) string { return text }))
}

// dataOf converts a value of a program to the form of YAML.
func dataOf(v any) any {
	switch v := v.(type) {
	case *literal.Object:
		data := make(map[string]any)
		for key, x := range v.All() {
			data[key] = dataOf(x)
		}
		return data
	case []any:
		for i := range v {
			v[i] = dataOf(v[i])
		}
	case literal.Unknown:
		return nil
	}
	return v
}

// mapOf returns a value as a map with texts as keys. It is empty for all but maps.
func mapOf(v any) front {
	switch v := v.(type) {
	case front: // below front matter
		return v
	case map[string]any:
		return v
	case map[any]any:
		f := make(front, len(v))
		for k, x := range v {
			f[fmt.Sprint(k)] = x
		}
		return f
	}
	return front{}
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// textsOf returns the texts of a list.
func textsOf(v any) (texts []string) {
	for _, x := range listOf(v) {
		if s := textOf(x); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// entry returns the label and the value of an item of a list: a value, or a map of one label.
func entry(item any) (label string, value any) {
	for k, v := range mapOf(item) {
		return strings.TrimSpace(k), v
	}
	return "", item
}

// below returns the paths of a repository below a folder, relative to it.
func (r *Repository) below(dir string) []string {
	all := r.under(dir)
	rel := make([]string, len(all))
	for i, f := range all {
		rel[i] = relative(dir, f)
	}
	return rel
}

// relative returns the path of a file relative to a folder above it.
func relative(dir, file string) string {
	if dir == "" || dir == "." {
		return file
	}
	return strings.TrimPrefix(file, dir+"/")
}

// folderOf returns the folder of a file, and "" for the top.
func folderOf(file string) string {
	if d := path.Dir(file); d != "." {
		return d
	}
	return ""
}

// folders returns the names in each folder of some paths, in the order of the paths; names of folders end with a slash.
func folders(paths []string) map[string][]string {
	in := make(map[string][]string)
	for _, p := range paths {
		for slash := ""; ; slash = "/" {
			dir := folderOf(p)
			known := len(in[dir]) > 0
			in[dir] = append(in[dir], path.Base(p)+slash)
			if known || dir == "" {
				break
			}
			p = dir
		}
	}
	return in
}

// stem returns the base name of a file without its extension.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// trimExt returns a path without its extension.
func trimExt(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// isIndex reports whether a page is the page of its folder.
func isIndex(file string) bool {
	name := strings.ToLower(stem(file))
	return name == "index" || name == "readme" || name == "_index"
}

// Readable returns the name of a file or folder as words.
func Readable(name string) string {
	words := strings.NewReplacer("-", " ", "_", " ").Replace(name)
	if words != "" && words == strings.ToLower(words) {
		first, size := utf8.DecodeRuneInString(words)
		return string(unicode.ToUpper(first)) + words[size:]
	}
	return words
}

const maxPattern = 1 << 10 // bytes of a glob

// glob returns what matches the paths of a pattern with *, **, ? and [].
func glob(pattern string) *regexp.Regexp {
	if len(pattern) > maxPattern {
		pattern = ""
	}
	parts := globParts.ReplaceAllStringFunc(pattern, func(p string) string {
		switch {
		case p == "**/":
			return "(?:.*/)?"
		case p == "**":
			return ".*"
		case p == "*":
			return "[^/]*"
		case p == "?":
			return "[^/]"
		case len(p) > 1 && p[0] == '[':
			return "[" + strings.Replace(regexp.QuoteMeta(p[1:len(p)-1]), "!", "^", 1) + "]"
		}
		return regexp.QuoteMeta(p)
	})
	re, err := regexp.Compile("^" + parts + "$")
	if err != nil {
		return regexp.MustCompile("^$")
	}
	return re
}

var globParts = regexp.MustCompile(`\*\*/|\*\*|\*|\?|\[[^\]]+\]|[^*?\[]+|\[`)

// matching returns the texts that match a pattern.
func matching(texts []string, pattern string) []string {
	re := glob(pattern)
	return slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !re.MatchString(s) })
}
