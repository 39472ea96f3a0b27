package site

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var doccReader = reader{config: lazyregexp.New(`\.docc/([^/]+/)*[^/]+\.md$`), read: readDocC}

// docc reads a catalog of DocC.
type docc struct {
	*builder
	module string
	files  map[string]string // the file of each article
	names  []string          // of the articles, sorted by file
}

var (
	doccModule = lazyregexp.New("(?m)\\A\\s*# +``([\\w.]+)``")
	doccSymbol = lazyregexp.New("(?m)\\A\\s*# +``")
	doccLink   = lazyregexp.New(`^\s*[-*+] +<doc:([^>#]+)`)
)

// readDocC reads the catalog that a page is the root of: the page whose heading is the module.
func readDocC(r *Repository, config string) *Site {
	pos := strings.Index(config, ".docc/") + len(".docc")
	root := path.Join(config[:pos], "Documentation.md")
	module := doccModule.FindStringSubmatch(r.Text(config))
	if config != root && (r.has(root) || module == nil) {
		return nil
	}
	d := &docc{builder: newBuilder(r, "DocC", config), files: make(map[string]string)}
	d.module = strings.TrimSuffix(path.Base(config[:pos]), ".docc")
	if module != nil {
		d.module = module[1]
	}
	for _, f := range r.under(config[:pos]) {
		if strings.HasSuffix(f, ".md") && !doccSymbol.MatchString(r.Text(f)) {
			d.files[stem(f)] = f
			d.names = append(d.names, stem(f))
		}
	}
	d.Root.Children = join(nil, d.node(config, "", d.url("")))
	d.Root.Children = append(d.Root.Children, d.topics(config, 0)...)
	var rest []*Node // articles that no page lists
	for _, name := range d.names {
		rest = join(rest, d.node(d.files[name], "", d.url(name)))
	}
	d.Root.Children = join(d.Root.Children, group("Articles", rest))
	return d.Site
}

func (d *docc) url(name string) string {
	return strings.ToLower(path.Join("documentation", d.module, name))
}

// topics returns the groups of articles that the section "Topics" of a page lists.
func (d *docc) topics(file string, depth int) (nodes []*Node) {
	_, section, _ := strings.Cut(d.Text(file), "\n## Topics")
	label, list := "", []*Node(nil)
	end := func() {
		if label == "" {
			nodes = append(nodes, list...)
		} else {
			nodes = join(nodes, group(label, list))
		}
		list = nil
	}
	for line := range strings.Lines(section) {
		line = strings.TrimRight(line, " \r\n")
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			end()
			label = strings.TrimSpace(heading)
		} else if strings.HasPrefix(line, "## ") {
			break
		} else if m := doccLink.FindStringSubmatch(line); m != nil {
			list = join(list, d.article(path.Base(m[1]), depth))
		}
	}
	end()
	return nodes
}

// article returns an article with those that it lists. Links to symbols have no page.
func (d *docc) article(name string, depth int) *Node {
	file, ok := d.files[name]
	if !ok || depth == maxToctrees {
		return nil
	}
	n := d.node(file, "", d.url(name))
	if n != nil {
		n.Children = d.topics(file, depth+1)
	}
	return n
}
