package page

import (
	"cmp"
	"html"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// readMarkdown takes title and paragraphs from the syntax tree, so that code, tables, lists, badges and raw HTML are
// not mistaken for prose.
func readMarkdown(path, source string) Page {
	front, source := frontMatter(source)
	source = moduleLine.ReplaceAllString(source, "")
	if strings.Contains(source, "]({") {
		source = liquidLink.ReplaceAllString(source, "](#)")
	}
	if strings.Contains(source, "}`") {
		source = mystRole.ReplaceAllString(source, "`")
	}
	src := []byte(source)
	doc := markdown().Parse(text.NewReader(src))
	p := Page{Path: path, Title: front["title"], Lead: front["description"]}
	r := mdReader{src: src, page: &p}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		r.block(n)
	}
	p.Title = cmp.Or(p.Title, r.htmlTitle)
	if strings.Contains(strings.ToLower(source), "lorem ipsum dolor") { // it shows how texts look
		p.Prose, p.opening = nil, ""
	}
	return p
}

// markdown is a parser without features that this package ignores: bare links and typographic quotes.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithHeadingAttribute()),
	).Parser()
})

// moduleLine matches the module lines of MDX, which frameworks read in pages with other extensions, too.
var moduleLine = lazyregexp.New(`(?m)^(import ([\w*{][\w\s,*{}$]*from )?["'][^"'\n]*["'];?|export (const|default|function) .*)[ \t]*(\n|$)`)

// liquidLink matches the target of a link by Jekyll: "]({% link page.md %})".
var liquidLink = lazyregexp.New(`\]\(\{[{%][^)\n]*\)`)

// mystRole matches the role before a text in backticks: "{py:func}`echo`".
var mystRole = lazyregexp.New("\\{[a-z][a-z:_+-]*\\}`[~!]?")

// mdReader holds the state of a readMarkdown.
type mdReader struct {
	src       []byte
	page      *Page
	aside     int  // level of the heading whose text, as the text of those below it, is not about the project; or 0
	headed    bool // a heading was read
	htmlTitle string
}

// block reads a block at the top level. Lists, tables and all other kinds give neither title nor prose.
func (r *mdReader) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph:
		r.paragraph(n)
	case *ast.Blockquote:
		p, ok := n.FirstChild().(*ast.Paragraph)
		if !ok {
			break
		}
		if text, _ := r.inline(p); r.aside == 0 && !r.page.hasParagraph && r.page.subs < 2 && !strings.HasPrefix(text, "[!") && isProse(text) {
			r.page.Taglines = append(r.page.Taglines, text)
		}
		r.paragraph(p)
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.List:
		text, _ := r.inline(n.FirstChild())
		r.page.opening = cmp.Or(r.page.opening, prose.Clean(prose.Sentence(text)))
	case *ast.CodeBlock:
		r.page.code()
	case *ast.FencedCodeBlock:
		if n.Info == nil || !strings.HasPrefix(string(n.Info.Value(r.src)), "{") { // a directive of MyST
			r.page.code()
		}
	}
}

// heading takes a heading for the title, or for one below it. It decides whether the text that follows is an aside.
func (r *mdReader) heading(n *ast.Heading) {
	title, _ := r.inline(n)
	title = prose.Clean(title)
	begun := len(r.page.Prose) > 0 && !IsReadme(r.page.Path)
	first := n.PreviousSibling() == nil
	part := first && r.isPart(n, title)
	r.page.hasParagraph = r.page.hasParagraph || part
	// A page that begins with a lower heading means it as its title.
	if r.page.Title == "" && !r.headed && (n.Level == 1 && !begun || first && !part) {
		r.page.Title = title
	} else if title != "" {
		r.page.below(title)
	}
	r.headed = r.headed || title != ""
	own := r.htmlTitle != "" && r.page.subs == 1 && !IsReadme(r.page.Path) // below the project's name
	switch {
	case r.aside > 0 && n.Level > r.aside:
	case n.Level > 1 && asides.In(strings.ToLower(title)) && !own:
		r.aside = n.Level
	default:
		r.aside = 0
	}
}

// isPart reports whether a lower heading is one of several on its level, unless it has the name of the file.
func (r *mdReader) isPart(n *ast.Heading, title string) bool {
	name := strings.ToLower(strings.TrimSuffix(path.Base(r.page.Path), path.Ext(r.page.Path)))
	if n.Level == 1 || IsReadme(r.page.Path) || prose.HasWords(strings.ToLower(title), name) {
		return false
	}
	for next := n.NextSibling(); next != nil; next = next.NextSibling() {
		if h, ok := next.(*ast.Heading); ok && h.Level == n.Level {
			return true
		}
	}
	return false
}

func (r *mdReader) paragraph(n *ast.Paragraph) {
	if text, linked := r.inline(n); r.aside == 0 && 2*linked <= len(text) {
		r.page.take(withoutLeadIn(text))
	}
}

// inline returns a block's text without images, badges, raw HTML and footnotes, and how many of its bytes are link
// texts.
func (r *mdReader) inline(root ast.Node) (text string, linked int) {
	var b strings.Builder
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n == root {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			b.Write(n.Label(r.src))
			linked += len(n.Label(r.src))
		case *ast.Link:
			label, _ := r.inline(n)
			b.WriteString(label)
			linked += len(label)
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			b.Write(n.Segment.Value(r.src))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return prose.Tidy(html.UnescapeString(prose.Unescape(b.String()))), linked
}

// html reads raw HTML as a second choice: many READMEs have their title and tag line in a centred block, and no other
// sentence about the project.
func (r *mdReader) html(n *ast.HTMLBlock) {
	raw := string(n.Lines().Value(r.src))
	if strings.HasPrefix(strings.TrimSpace(raw), "<!--") {
		return
	}
	if match := htmlTitle.FindStringSubmatchIndex(raw); match != nil {
		if r.htmlTitle == "" {
			r.htmlTitle = stripTags(raw[match[2]:match[3]])
			r.page.headingLevel-- // the following heading may be the page's own
		}
		raw = raw[:match[0]] + raw[match[1]:]
	}
	switch text := stripTags(raw); {
	case htmlHeading.MatchString(raw) && text != "":
		if r.page.subs == 0 && !r.page.hasParagraph {
			r.page.Taglines = append(r.page.Taglines, text)
		}
		r.page.below(text)
	case !htmlOther.MatchString(raw) && r.aside == 0:
		for part := range strings.SplitSeq(htmlPart.ReplaceAllString(raw, "\x00"), "\x00") {
			if text := stripTags(part); !strings.Contains(strings.ToLower(part), "<a ") && isProse(text) {
				r.page.Taglines = append(r.page.Taglines, text)
			}
		}
	}
}

var (
	wordTag     = lazyregexp.New(`(?i)</?(?:b|i|u|em|strong|code|span|sub|sup|kbd|mark|small)(?: [^>]*)?>`) // may stand within words
	htmlTag     = lazyregexp.New(`(?s)<!--.*?-->|<[^>]*>`)
	htmlTitle   = lazyregexp.New(`(?is)<h1[^>]*>(.*?)</h1>`)
	htmlHeading = lazyregexp.New(`(?i)^\s*<h[2-6][ >]`)
	htmlOther   = lazyregexp.New(`(?i)<(?:table|pre|script|style|svg|details)\b`)
	htmlPart    = lazyregexp.New(`(?i)</?(?:p|div|center|br|h[2-6])\b[^>]*>`)
)

// stripTags returns the text of HTML.
func stripTags(raw string) string {
	return prose.Tidy(html.UnescapeString(htmlTag.ReplaceAllString(wordTag.ReplaceAllString(raw, ""), " ")))
}

var frontLine = lazyregexp.New(`(?m)^(title|description):[ \t]*([^|>\s].*)`)

// frontMatter reads title and description between the --- lines at the top, and returns the rest of the text.
func frontMatter(source string) (map[string]string, string) {
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\uFEFF")
	if title, ok := strings.CutPrefix(source, "% "); ok { // Pandoc; authors and date follow
		title, _, _ = strings.Cut(title, "\n")
		for strings.HasPrefix(source, "%") {
			_, source, _ = strings.Cut(source, "\n")
		}
		return map[string]string{"title": title}, source
	}
	rest, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return nil, source
	}
	block, rest, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return nil, source
	}
	front := make(map[string]string)
	for _, m := range frontLine.FindAllStringSubmatch(block, -1) {
		front[m[1]] = prose.Tidy(strings.Trim(strings.TrimSpace(m[2]), `"'`))
	}
	return front, rest
}

// asides are parts of headings below which a README does not say what it is.
var asides = words.Of("asides")
