package page

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

var leads, pointers = words.Of("leads"), words.Of("pointers")

// Page is what a document says about itself.
type Page struct {
	Path     string
	Title    string
	Lead     string // description in the front matter
	Prose    []Paragraph
	Second   string   // the first heading below the title, if nothing precedes it
	LeadIn   string   // the first sentence that introduces code or a list
	Taglines []string // text of HTML blocks, where many READMEs say what they are

	opening      string   // the first text below the title, which may be no sentence
	heads        []string // the first headings below the title
	subs         int      // number of headings below the title
	headingLevel int      // how far below the title the reader is
	hasParagraph bool     // a paragraph was read
	hasCode      bool     // code followed it
}

// Paragraph is a paragraph of prose.
type Paragraph struct {
	Text string
	Near bool // near the title: before any code, and not below a second heading
}

// take keeps a paragraph, or a sentence that introduces code or a list.
func (p *Page) take(text string) {
	p.opening = cmp.Or(p.opening, prose.Clean(prose.Opening(text)))
	if !isProse(text) {
		p.addLeadIn(text)
		return
	}
	p.Prose = append(p.Prose, Paragraph{Text: text, Near: p.headingLevel < 2 && !p.hasCode})
	p.hasParagraph = true
}

// code notes that the following text may be about code. Text after code at the very beginning of a page is about the
// page.
func (p *Page) code() { p.hasCode = p.hasCode || p.hasParagraph || p.headingLevel > 0 }

// addLeadIn keeps the sentence before code or a list, if it says what these are.
func (p *Page) addLeadIn(text string) {
	s := WithoutLead(text)
	p.hasParagraph = p.hasParagraph || text != ""
	if p.LeadIn != "" || p.headingLevel > 1 || p.hasCode || s == "" || !strings.HasSuffix(text, ":") ||
		strings.Count(s, " ") < 5 || prose.Informative(s) != s || prose.NeedsContext(s) {
		return
	}
	if !pointers.In(strings.ToLower(s)) {
		p.LeadIn = s
	}
}

// below notes a heading other than the title. Answers to questions are not about the page.
func (p *Page) below(title string) {
	if !p.hasParagraph {
		p.Second = cmp.Or(p.Second, title)
	}
	if title = prose.Clean(title); p.subs < 12 && utf8.RuneCountInString(title) < 40 && !strings.ContainsAny(title, "`<[") {
		p.heads = append(p.heads, strings.TrimRight(title, ".:!"))
	}
	p.subs++
	p.headingLevel++
	if strings.HasSuffix(title, "?") {
		p.headingLevel++
	}
}

// Note returns the first sentence about the page as a whole.
func (p Page) Note() string {
	if s := prose.Informative(p.Lead); s != "" {
		return s
	}
	for _, text := range p.Prose[:min(3, len(p.Prose))] {
		if !text.Near {
			break
		}
		if s := prose.Informative(text.Text); s != "" && !isDefinition(s) {
			return s
		}
	}
	return p.LeadIn
}

// Contents returns the first headings below the title, or else the first text, or the only heading.
func (p Page) Contents() string {
	return cmp.Or(p.Heads(), p.opening, strings.Join(p.heads[:min(len(p.heads), 1)], ""))
}

// Heads returns the first headings below the title, or "" if there are fewer than two.
func (p Page) Heads() string {
	list := ""
	for i, head := range p.heads {
		if utf8.RuneCountInString(list+head) > 100 || head == "" || slices.Contains(p.heads[:i], head) || prose.SameWords(head, p.Title) {
			continue
		}
		if list != "" {
			list += ", "
		}
		list += head
	}
	if !strings.Contains(list, ", ") {
		return ""
	}
	return strings.TrimRight(list, "?")
}

// isDefinition recognizes "KeyType : a type for keys", an item of a list, and "int turn(char *widget, int times)".
func isDefinition(s string) bool {
	term, _, ok := strings.Cut(s, " : ")
	return ok && strings.Count(term, " ") < 4 || signature.MatchString(s)
}

var signature = lazyregexp.New(`^[\w *&:]+\w\([^()]*[,=*][^()]*\);?$`)

// isProse also accepts a leading name in braces, as in "{fmt} is a library".
func isProse(s string) bool {
	if name, rest, ok := strings.Cut(s, "}"); ok && strings.HasPrefix(name, "{") && len(name) < 20 {
		s = name[1:] + rest
	}
	return prose.Is(s)
}

// Read reads the page in the format that its file name indicates.
func Read(p, text string) Page {
	if markdown, ok := asMarkdown(p, text); ok {
		return readManual(p, markdown)
	}
	if IsLicence(path.Base(p)) {
		return Page{Path: p, Title: path.Base(p), Lead: LicenceOf(text)}
	}
	if markdownPages.Has(strings.ToLower(path.Ext(p))) {
		return readMarkdown(p, text)
	}
	return readPlain(p, text)
}

// WithoutLead completes a sentence that introduces something that is left out; "" if nothing remains.
func WithoutLead(s string) string {
	s = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(s, " e.g."), " i.e."), ",")
	head, ok := strings.CutSuffix(s, ":")
	if !ok {
		return s
	}
	if leads.End(strings.ToLower(head)) {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(head, " featuring"), " including") + "."
}

// About returns what a heading says after the name, in the usual forms: "Frob: turns any widgets", "frob - a turner
// of widgets".
func About(heading string) string {
	if parts := nameAndAbout.FindStringSubmatch(heading); parts != nil {
		return parts[1]
	}
	return ""
}

var nameAndAbout = lazyregexp.New(`^\S+?(?: \S+?){0,2}?(?:: | [-–—] )(\S+ \S+ .+)`)
