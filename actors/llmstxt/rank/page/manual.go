package page

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// IsMan tells manual pages by their names: foo.1.
func IsMan(p string) bool {
	ext := path.Ext(p)
	return len(ext) == 2 && ext[1] >= '1' && ext[1] <= '9'
}

func IsNotebook(p string) bool { return strings.EqualFold(path.Ext(p), ".ipynb") }

// asMarkdown writes the formats that only the eye of their programs can read as Markdown, as far as headings,
// paragraphs and code go.
func asMarkdown(p, text string) (markdown string, ok bool) {
	switch {
	case IsMan(p):
		return markdownOfMan(text), true
	case strings.EqualFold(path.Ext(p), ".pod"):
		return markdownOfPod(text), true
	case IsNotebook(p):
		return markdownOfNotebook(text), true
	}
	return "", false
}

var (
	fonts, items  = words.Of("fonts"), words.Of("requests of items")
	opens, closes = words.Of("requests before code"), words.Of("requests after code")
)

type manReader struct {
	b    strings.Builder
	name string // that .Nm stands for
	code bool
}

func markdownOfMan(text string) string {
	var r manReader
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, `.\"`) || strings.HasPrefix(line, `'\"`) || strings.HasPrefix(line, `\"`):
		case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'"):
			request, rest, _ := strings.Cut(line[1:], " ")
			r.request(request, manInline(strings.TrimSpace(rest)))
		default:
			r.b.WriteString(manInline(line) + "\n")
		}
	}
	return r.b.String()
}

func (r *manReader) request(request, rest string) {
	switch {
	case request == "TH" || request == "Dt":
		if f := strings.Fields(rest); len(f) > 1 {
			r.b.WriteString("# " + strings.ToLower(strings.Trim(f[0], `"`)) + "(" + strings.Trim(f[1], `"`) + ")\n\n")
		}
	case strings.EqualFold(request, "SH"):
		r.b.WriteString("\n\n## " + strings.Trim(rest, `"`) + "\n\n")
	case strings.EqualFold(request, "SS"):
		r.b.WriteString("\n\n### " + strings.Trim(rest, `"`) + "\n\n")
	case request == "Nm":
		if r.name == "" {
			r.name, _, _ = strings.Cut(rest, " ")
		}
		r.b.WriteString(cmp.Or(rest, r.name) + "\n")
	case request == "Nd":
		r.b.WriteString("- " + rest + "\n")
	case request == "Fl":
		r.b.WriteString("-" + rest + "\n")
	case fonts.Has(request):
		r.b.WriteString(strings.ReplaceAll(rest, `"`, "") + "\n")
	case opens.Has(request) && !r.code, closes.Has(request) && r.code:
		r.code = !r.code
		r.b.WriteString("\n```\n")
	case opens.Has(request), closes.Has(request):
	case items.Has(request):
		r.b.WriteString("\n- " + rest + "\n")
	default:
		r.b.WriteString("\n")
	}
}

// manInline drops the changes of fonts and writes the characters out.
func manInline(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\fB`, "", `\fI`, "", `\fR`, "", `\fP`, "", `\f1`, "", `\f2`, "", `\f3`, "", `\-`, "-",
		`\(aq`, "'", `\(dq`, `"`, `\(em`, "—", `\(en`, "–", `\(bu`, "•", `\(co`, "©", `\&`, "", `\|`, "", `\e`, `\`,
		`\ `, " ",
		`\(cq`, "'", `\(oq`, "'", `\(lq`, `"`, `\(rq`, `"`, `\~`, " ").Replace(s)
}

func markdownOfPod(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		command, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "=head") && len(command) == 6 && command[5] >= '1' && command[5] <= '6':
			b.WriteString(strings.Repeat("#", min(6, int(command[5]-'0')+1)) + " " + podInline(rest) + "\n")
		case command == "=item":
			b.WriteString("- " + podInline(rest) + "\n")
		case strings.HasPrefix(line, "="):
			b.WriteString("\n")
		default:
			b.WriteString(podInline(line) + "\n")
		}
	}
	return b.String()
}

// podInline leaves the text of B<bold>, C<code>, L<text|target>.
func podInline(s string) string {
	for range 5 { // one inside another
		s = podCode.ReplaceAllString(s, "$1")
	}
	return s
}

var podCode = regexp.MustCompile(`[A-Z]<([^<>|]*)(?:\|[^<>]*)?>`)

// readManual takes title and purpose from the section NAME: "name - purpose".
func readManual(p, markdown string) Page {
	out := readMarkdown(p, markdown)
	_, after, ok := strings.Cut(markdown, "## NAME")
	if !ok {
		return out
	}
	after, _, _ = strings.Cut(strings.TrimLeft(after, "\n "), "\n\n")
	name, purpose, ok := strings.Cut(prose.Tidy(after), " - ")
	if !ok {
		return out
	}
	out.Lead = purpose
	if !IsMan(p) {
		out.Title = name
	}
	out.Title = cmp.Or(out.Title, name)
	return out
}
