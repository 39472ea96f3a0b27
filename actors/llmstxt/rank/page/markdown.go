package page

import (
	"cmp"
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// readMarkdown takes title and paragraphs from the syntax tree, so that code, tables, lists, badges and raw HTML
// cannot be mistaken for prose.
func readMarkdown(path, source string) Page {
	front, source := frontMatter(source)
	if strings.HasSuffix(strings.ToLower(path), ".mdx") {
		source = moduleLine.ReplaceAllString(source, "")
	}
	src := []byte(source)
	doc := markdown().Parse(text.NewReader(src))
	p := Page{Path: path, Title: front["title"], Lead: front["description"]}
	r := mdReader{src: src, page: &p}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		r.block(n)
	}
	p.Title, p.Taglines = cmp.Or(p.Title, r.htmlTitle), r.htmlProse
	if len(p.Prose) == 0 {
		for _, text := range r.htmlProse {
			p.Prose = append(p.Prose, Paragraph{Text: text, Near: true})
		}
	}
	return p
}

// markdown is a parser without what this package passes over: links by their mere address, typographic quotes.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithHeadingAttribute()),
	).Parser()
})

// moduleLine stands at the top of an MDX page.
var moduleLine = regexp.MustCompile(`(?m)^(import|export) .*\n?`)

type mdReader struct {
	src       []byte
	page      *Page
	aside     bool // below a heading whose text is not about what this is
	headed    bool // a heading has come
	htmlTitle string
	htmlProse []string
}

func (r *mdReader) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph:
		r.paragraph(n)
	case *ast.Blockquote:
		if p, ok := n.FirstChild().(*ast.Paragraph); ok {
			r.paragraph(p)
		}
	case *ast.HTMLBlock:
		r.html(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		r.page.code()
	}
}

func (r *mdReader) heading(n *ast.Heading) {
	title, _ := r.inline(n)
	title = prose.Clean(title)
	begun := len(r.page.Prose) > 0 && !IsReadme(r.page.Path)
	// A page that begins with a lower heading means it as its title.
	if r.page.Title == "" && !r.headed && (n.Level == 1 && !begun || n.PreviousSibling() == nil) {
		r.page.Title = title
	} else if title != "" && (!isElsewhere(n) || Version(title) != "") {
		r.page.below(title, n.Level)
	}
	r.headed = r.headed || title != ""
	own := r.htmlTitle != "" && len(r.page.subs) == 1 && !IsReadme(r.page.Path) // below the project's name
	r.aside = n.Level > 1 && asides.In(strings.ToLower(title)) && !own
}

// isElsewhere holds for a heading that is one link to another site, as those who sponsor a project have it.
func isElsewhere(n *ast.Heading) bool {
	link, ok := n.FirstChild().(*ast.Link)
	return ok && link.NextSibling() == nil && strings.Contains(string(link.Destination), "://")
}

func (r *mdReader) paragraph(n *ast.Paragraph) {
	text, linked := r.inline(n)
	if text = withoutLeadIn(text); !r.aside && 2*linked <= len(text) {
		r.page.take(text)
	}
}

// inline gives a block's text without images, badges, raw HTML and foot notes, and how many bytes of it are link
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
		case *ast.String:
			b.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return prose.Tidy(html.UnescapeString(prose.Unescape(b.String()))), linked
}

// html is the second choice: many a README has its title and tag line in a centred block and no other sentence about
// itself.
func (r *mdReader) html(n *ast.HTMLBlock) {
	raw := string(n.Lines().Value(r.src))
	if strings.HasPrefix(strings.TrimSpace(raw), "<!--") {
		return
	}
	if at := htmlTitle.FindStringSubmatchIndex(raw); at != nil {
		if r.htmlTitle == "" {
			r.htmlTitle = stripTags(raw[at[2]:at[3]])
			r.page.deep-- // the heading that follows may be the page's own
		}
		raw = raw[:at[0]] + raw[at[1]:]
	}
	switch text := stripTags(raw); {
	case htmlHeading.MatchString(raw) && text != "":
		r.page.below(text, 6)
	case !htmlHeading.MatchString(raw) && !htmlOther.MatchString(raw) && !r.aside && isProse(text):
		r.htmlProse = append(r.htmlProse, text)
	}
}

var (
	htmlTag     = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)
	htmlTitle   = regexp.MustCompile(`(?is)<h1[^>]*>(.*?)</h1>`)
	htmlHeading = regexp.MustCompile(`(?i)^\s*<h[2-6][ >]`)
	htmlOther   = regexp.MustCompile(`(?i)<(?:a|table|pre|script|style|svg|details)\b`)
)

// stripTags leaves the text of HTML.
func stripTags(raw string) string {
	return prose.Tidy(html.UnescapeString(htmlTag.ReplaceAllString(raw, " ")))
}

// frontMatter reads the plain "key: value" lines between the --- lines at the top, and gives the rest.
func frontMatter(source string) (map[string]string, string) {
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\uFEFF")
	rest, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return nil, source
	}
	block, rest, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return nil, source
	}
	front := make(map[string]string)
	for line := range strings.SplitSeq(block, "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && key == strings.TrimSpace(key) {
			value = strings.TrimSpace(value)
			if !strings.HasPrefix(value, "|") && !strings.HasPrefix(value, ">") {
				front[key] = prose.Tidy(strings.Trim(value, `"'`))
			}
		}
	}
	return front, rest
}

// asides stand in headings below which a README does not say what it is.
var asides = words.Of("asides")
