package page

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

var nameDirectives, codeDirectives = words.Of("directives of names"), words.Of("directives of code")

// Features are what the lines of a document show without a parser for its format: enough to recognize its kind.
type Features struct {
	Heading    string   // the first heading
	Headings   []string // headings of all levels as plain text, including the title
	Fences     int
	Declared   int // reStructuredText directives that describe a name
	Directives int
	ProseLines int
	Targets    []string // local paths that it links to
	Script     string   // script in which the text is written; "" for Latin
}

// FeaturesOf reads the whole text once.
func FeaturesOf(p, text string) Features {
	r := featureReader{adoc: prose.EndsWithAny(strings.ToLower(p), ".adoc", ".asciidoc"), org: path.Ext(p) == ".org"}
	if markdown, ok := asMarkdown(p, text); ok {
		text = markdown
	}
	front, body := frontMatter(text)
	lines := append(strings.Split(body, "\n"), "")
	for i, next := range lines[1:] {
		r.line(lines[i], next)
	}
	if t := front["title"]; t != "" {
		r.f.Headings = append([]string{t}, r.f.Headings...)
	}
	if len(r.f.Headings) > 0 {
		r.f.Heading = r.f.Headings[0]
	}
	r.f.Targets = localTargets(body)
	for _, t := range Toctrees(body) {
		r.f.Targets = append(r.f.Targets, t.Target)
	}
	r.f.Script = r.counts.most()
	return r.f
}

// featureReader holds the state of a FeaturesOf.
type featureReader struct {
	f         Features
	fence     string
	adoc, org bool
	counts    letters
}

func (r *featureReader) line(line, next string) {
	t := strings.TrimSpace(line)
	if r.inFence(t) {
		return
	}
	switch {
	case t == "" || isRule(t):
	case r.heading(t, next):
	case strings.HasPrefix(t, ".. "):
		r.directive(t)
	case line[0] == ' ' || line[0] == '\t':
		r.item(t)
	case strings.IndexByte("-*+|<!:>[", t[0]) >= 0 || isNumbered(t):
		r.item(t)
	default:
		r.f.ProseLines++
		r.counts.count(t)
	}
}

func (r *featureReader) inFence(t string) bool {
	mark := ""
	switch low := strings.ToLower(t); {
	case prose.StartsWithAny(t, "```", "~~~"):
		mark = t[:3]
	case r.adoc && strings.HasPrefix(t, "----"):
		mark = "----"
	case r.org && prose.StartsWithAny(low, "#+begin_src", "#+end_src"):
		mark = "#+"
	}
	inside := r.fence != ""
	switch {
	case !inside && mark != "":
		r.fence = mark
		r.f.Fences++
	case mark == r.fence:
		r.fence = ""
	}
	return inside || mark != ""
}

func (r *featureReader) heading(t, next string) bool {
	text := ""
	switch {
	case strings.HasPrefix(t, "#") && !r.org:
		text = strings.TrimSpace(strings.Trim(t, "#"))
		if text == "" || !strings.HasPrefix(strings.TrimLeft(t, "#"), " ") {
			return false
		}
	case r.adoc && strings.HasPrefix(t, "="), r.org && strings.HasPrefix(t, "*"):
		text = strings.TrimSpace(strings.TrimLeft(t, "=*"))
	case r.adoc && strings.IndexByte("[.", t[0]) >= 0: // the attributes of a block
		return false
	case isRule(next) && len(strings.TrimSpace(next))+3 >= len(t) && next != "" && next[0] != ' ' && t[0] != '|' &&
		t[0] != '+':
		text = t
	default:
		return false
	}
	if len(r.f.Headings) < 80 && text != "" {
		text = plainInline(text)
		r.f.Headings = append(r.f.Headings, text)
		r.counts.count(text)
	}
	return true
}

func (r *featureReader) directive(t string) {
	r.f.Directives++
	name, _, _ := strings.Cut(strings.TrimPrefix(t, ".. "), "::")
	name = name[strings.LastIndexByte(name, ':')+1:]
	if nameDirectives.Has(name) {
		r.f.Declared++
	} else if codeDirectives.Has(name) {
		r.f.Fences++
	}
}

func (r *featureReader) item(t string) {
	if strings.IndexByte("-*+>", t[0]) >= 0 || isNumbered(t) {
		r.counts.count(t)
	}
}

func isNumbered(t string) bool {
	digits := len(t) - len(strings.TrimLeft(t, "0123456789"))
	return digits > 0 && digits < 3 && len(t) > digits+1 && (t[digits] == '.' || t[digits] == ')') && t[digits+1] == ' '
}

// plainInline removes the marks of emphasis, code, links and headings.
func plainInline(s string) string {
	return prose.Tidy(inlineMarks.ReplaceAllString(s, "$1"))
}

// Plain returns a line without marks, pictures and emoji.
func Plain(s string) string {
	s = image.ReplaceAllString(s, "")
	return strings.TrimLeftFunc(plainInline(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var image = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|<[^>]*>`)

var inlineMarks = regexp.MustCompile("\\[([^\\]]*)\\]\\([^)]*\\)|\\*\\*|`|__| \\{#[^}]*\\}$")

// toctree matches a table of contents of Sphinx, and tocTarget a page in one: its path, or "title <path>".
var (
	toctree   = regexp.MustCompile("(?m)^[ \t]*(?:\\.\\. toctree::.*\n(?:[ \t].*\n|\n)*|```\\{toctree\\}(?s:.*?)\n```)")
	tocTarget = regexp.MustCompile("(?m)^[ \t]*(?:.*<)?([^:<>`\\s][^:<>\n]*?)>?[ \t]*$")
)

// Listed is a page in a table of contents of Sphinx.
type Listed struct{ Target, Caption string }

// Toctrees lists the pages of all tables of contents of Sphinx.
func Toctrees(body string) (list []Listed) {
	if !strings.Contains(body, "toctree") {
		return nil
	}
	for _, table := range toctree.FindAllString(body+"\n", -1) {
		caption := ""
		if _, after, ok := strings.Cut(table, ":caption:"); ok {
			caption, _, _ = strings.Cut(after, "\n")
		}
		for _, page := range tocTarget.FindAllStringSubmatch(table, -1) {
			list = append(list, Listed{page[1], strings.TrimSpace(caption)})
		}
	}
	return list
}
