package site

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var sphinxReader = reader{config: lazyregexp.New(`(^|/)conf\.py$`), read: readSphinx}

// sphinx reads a site of Sphinx. A document is a path below dir without its suffix.
type sphinx struct {
	*builder
	dir      string
	suffixes []string
	docs     map[string]string // the file of each document
	names    []string          // sorted
	end      string            // of URLs
	depth    int
}

func readSphinx(r *Repository, config string) *Site {
	settings := mapOf(dataOf(literal.Assignments(strings.ReplaceAll(r.Text(config), "\r\n", "\n"))))
	s := &sphinx{builder: newBuilder(r, "Sphinx", config), dir: folderOf(config), suffixes: suffixes(settings), end: ".html"}
	s.Base = baseURL(settings["html_baseurl"])
	if published := r.readTheDocs(); published.text("builder") == "dirhtml" {
		s.end = "/"
	}
	s.documents(textsOf(settings["exclude_patterns"]))
	root := cmp.Or(settings.text("root_doc"), settings.text("master_doc"), "index")
	n := s.node(s.docs[root], "", s.url(root))
	if n == nil {
		return nil
	}
	s.Root.Children = append([]*Node{n}, s.toctrees(root)...)
	return s.Site
}

// readTheDocs returns what the configuration of Read the Docs says of Sphinx.
func (r *Repository) readTheDocs() front {
	return mapOf(mapOf(readYAML(r.Text(r.first(".readthedocs.yaml", ".readthedocs.yml"))))["sphinx"])
}

// suffixes returns the ends of names of documents.
func suffixes(settings front) []string {
	list := slices.Sorted(maps.Keys(mapOf(settings["source_suffix"])))
	list = append(list, textsOf(settings["source_suffix"])...)
	if s := settings.text("source_suffix"); s != "" {
		list = append(list, s)
	}
	list = append(list, ".rst")
	for _, extension := range textsOf(settings["extensions"]) {
		switch {
		case strings.Contains(extension, "nb"):
			list = append(list, ".ipynb", ".md", ".myst")
		case strings.Contains(extension, "myst"), strings.Contains(extension, "recommonmark"):
			list = append(list, ".md")
		}
	}
	return list
}

// documents finds the documents without those that patterns exclude.
func (s *sphinx) documents(exclude []string) {
	var excluded []*regexp.Regexp
	for _, pattern := range append(exclude, "_build", "_templates") {
		excluded = append(excluded, glob(strings.TrimSuffix(pattern, "/")))
	}
	s.docs = make(map[string]string)
	for _, file := range s.below(s.dir) {
		if isExcluded(excluded, file) {
			continue
		}
		for _, suffix := range s.suffixes {
			if name, ok := strings.CutSuffix(file, suffix); ok && s.docs[name] == "" {
				s.docs[name] = within(s.dir, file)
			}
		}
	}
	s.names = slices.Sorted(maps.Keys(s.docs))
}

// isExcluded reports whether one of the patterns matches a path or a folder above it.
func isExcluded(patterns []*regexp.Regexp, p string) bool {
	for ; p != ""; p = folderOf(p) {
		if slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(p) }) {
			return true
		}
	}
	return false
}

func (s *sphinx) url(doc string) string {
	if s.end == "/" {
		if dir, ok := strings.CutSuffix("/"+doc, "/index"); ok {
			return strings.TrimPrefix(dir+"/", "/")
		}
	}
	return doc + s.end
}

// toctrees returns the places that the directives of a document list.
func (s *sphinx) toctrees(doc string) (nodes []*Node) {
	text, dir := s.Text(s.docs[doc]), folderOf(s.docs[doc])
	if strings.HasSuffix(s.docs[doc], ".ipynb") {
		text = page.NotebookMarkdown(text)
	}
	scan := toctreeScan{include: func(name string) string {
		if below, ok := strings.CutPrefix(name, "/"); ok {
			return s.Text(within(s.dir, below))
		}
		return s.Text(within(dir, name))
	}}
	scan.lines(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"))
	for _, t := range scan.found {
		listed := s.listed(doc, t)
		if caption := t.options.text("caption"); caption != "" {
			listed = join(nil, group(caption, listed))
		}
		nodes = append(nodes, listed...)
	}
	return nodes
}

func (s *sphinx) listed(doc string, t toctree) (nodes []*Node) {
	_, globs := t.options["glob"]
	_, reversed := t.options["reversed"]
	named := make(map[string]bool)
	for _, entry := range t.entries {
		name, _ := s.entry(doc, entry)
		named[name] = true
	}
	for _, entry := range t.entries {
		name, label := s.entry(doc, entry)
		switch {
		case name == "":
		case globs && strings.ContainsAny(name, "*?["):
			for _, match := range matching(s.names, name) {
				if !named[match] {
					nodes = join(nodes, s.document(match, ""))
				}
			}
		default:
			nodes = join(nodes, s.document(name, label))
		}
	}
	if reversed {
		slices.Reverse(nodes)
	}
	return nodes
}

var (
	titledEntry = lazyregexp.New(`^(.*?)\s*<([^<>]+)>$`)
	noDocument  = lazyregexp.New(`^(self|genindex|modindex|py-modindex|search|[a-z][a-z+.-]*:.*)$`)
)

// entry returns the document that an entry of a directive names, or "", and its label.
func (s *sphinx) entry(doc, entry string) (name, label string) {
	name = entry
	if m := titledEntry.FindStringSubmatch(entry); m != nil {
		label, name = m[1], m[2]
	}
	if noDocument.MatchString(name) {
		return "", ""
	}
	if below, ok := strings.CutPrefix(name, "/"); ok {
		name = path.Clean(below)
	} else {
		name = path.Join(folderOf(doc), name)
	}
	if s.docs[name] == "" {
		for _, suffix := range s.suffixes {
			name = strings.TrimSuffix(name, suffix)
		}
	}
	return name, label
}

// maxToctrees bounds documents that list documents.
const maxToctrees = 20

func (s *sphinx) document(doc, label string) *Node {
	n := s.node(s.docs[doc], label, s.url(doc))
	if n != nil && s.depth < maxToctrees {
		s.depth++
		n.Children = s.toctrees(doc)
		s.depth--
	}
	return n
}
