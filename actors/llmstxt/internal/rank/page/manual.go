package page

import (
	_ "embed"
	"encoding/json"
	"path"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/packed"
)

// isMan recognizes manual pages by their names: foo.1.
func isMan(p string) bool {
	ext := path.Ext(p)
	return len(ext) == 2 && ext[1] >= '1' && ext[1] <= '9'
}

// IsNotebook reports whether the file is a Jupyter notebook.
func IsNotebook(p string) bool { return strings.EqualFold(path.Ext(p), ".ipynb") }

// asMarkdown converts man pages, notebooks and similar formats to Markdown, as far as headings, paragraphs and code
// go.
func asMarkdown(p, text string) (markdown string, ok bool) {
	format := strings.TrimPrefix(strings.ToLower(path.Ext(p)), ".")
	if IsNotebook(p) {
		return NotebookMarkdown(text), true
	}
	if isMan(p) {
		format = "man"
	}
	rules, ok := manuals()[format]
	for _, r := range rules {
		text = r.pattern.ReplaceAllString(text, r.with)
	}
	return text, ok
}

// rule is a line of manuals.txt: what replaces a pattern.
type rule struct {
	pattern *lazyregexp.Regexp
	with    string
}

//go:embed manuals.txt.gz
var manualRules string

// manuals returns the rules of each format.
var manuals = sync.OnceValue(func() map[string][]rule {
	rules, format := make(map[string][]rule), ""
	marks := strings.NewReplacer(`\n`, "\n", `\s`, " ")
	for line := range strings.Lines(string(packed.Text(manualRules))) {
		line = strings.TrimSuffix(line, "\n")
		pattern, with, found := strings.Cut(line, " =>")
		if name, ok := strings.CutPrefix(line, "= "); ok {
			format = name
		} else if found && line[0] != '#' {
			rules[format] = append(rules[format],
				rule{lazyregexp.New("(?m)" + pattern), marks.Replace(strings.TrimPrefix(with, " "))})
		}
	}
	return rules
})

// readManual takes title and purpose from the section NAME: "name - purpose".
func readManual(p, markdown string) Page {
	out := readMarkdown(p, markdown)
	if isMan(p) {
		out.Title = strings.ToLower(out.Title)
	}
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
	if !isMan(p) || out.Title == "" {
		out.Title = name
	}
	return out
}

// NotebookMarkdown returns the Markdown and the code of a notebook's cells. If the text is cut off, it uses the
// complete cells.
func NotebookMarkdown(text string) string {
	_, rest, ok := strings.Cut(text, `"cells"`)
	if !ok {
		return ""
	}
	cells := json.NewDecoder(strings.NewReader(strings.TrimLeft(rest, ": \t\n")))
	if open, err := cells.Token(); err != nil || open != json.Delim('[') {
		return ""
	}
	var b strings.Builder
	for cells.More() {
		var cell struct {
			Kind   string `json:"cell_type"`
			Source json.RawMessage
		}
		if err := cells.Decode(&cell); err != nil {
			break
		}
		switch source := joined(cell.Source); cell.Kind {
		case "markdown":
			b.WriteString(source + "\n\n")
		case "code":
			b.WriteString("````\n" + source + "\n````\n\n")
		}
	}
	return boldTitle.ReplaceAllString(b.String(), "# $1\n")
}

// boldTitle matches a first line with the notebook's title in bold.
var boldTitle = lazyregexp.New(`\A\s*\*\*([^*\n]+[^*\n.:!])\*\*[ \t]*(?:\n|\z)`)

// joined decodes a text that the format also allows as a list of lines.
func joined(source []byte) (text string) {
	var lines []string
	if json.Unmarshal(source, &lines) == nil {
		return strings.Join(lines, "")
	}
	_ = json.Unmarshal(source, &text)
	return text
}
