package rank

import (
	"path"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/prose"
)

// page is what a document says of itself.
type page struct {
	path  string
	title string
	lead  string   // description in the front matter
	prose []string // paragraphs, in order
}

func (p page) note() string {
	if p.lead != "" {
		return prose.Sentence(p.lead)
	}
	if len(p.prose) == 0 {
		return ""
	}
	return prose.Sentence(p.prose[0])
}

func isPage(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".txt":
		return true
	}
	return isReadme(p) || licenceName(path.Base(p))
}

func readPage(p, text string) page {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdx", ".markdown":
		return readMarkdown(p, text)
	}
	if licenceName(path.Base(p)) {
		return page{path: p, title: path.Base(p), lead: licenceOf(text)}
	}
	return readPlain(p, text)
}

// readPlain reads reStructuredText, AsciiDoc and plain text: a title is the
// first line if it is underlined or marked, prose is any paragraph of words.
func readPlain(p, text string) page {
	out := page{path: p}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		block = strings.Trim(block, "\n")
		lines := strings.Split(block, "\n")
		if out.title == "" && len(out.prose) == 0 {
			if title, n := plainTitle(lines); n > 0 {
				out.title, lines = title, lines[n:]
			}
		}
		if text := plainProse(lines); prose.Is(text) {
			out.prose = append(out.prose, text)
		}
	}
	return out
}

func plainTitle(lines []string) (title string, used int) {
	if rest, ok := strings.CutPrefix(lines[0], "= "); ok {
		return prose.Tidy(rest), 1
	}
	if len(lines) > 2 && isRule(lines[0]) && isRule(lines[2]) {
		return prose.Tidy(lines[1]), 3
	}
	if len(lines) > 1 && isRule(lines[1]) && !isRule(lines[0]) {
		return prose.Tidy(lines[0]), 2
	}
	return "", 0
}

func isRule(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= 3 && strings.IndexByte("=-~^*#+\"", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

// plainProse refuses what is indented, a directive, a list, a heading or a table.
func plainProse(lines []string) string {
	if len(lines) == 0 || lines[0] == "" || len(lines) > 1 && isRule(lines[1]) {
		return ""
	}
	first := lines[0]
	if unicode.IsSpace(rune(first[0])) || strings.ContainsRune(":.-*+|=[#0123456789", rune(first[0])) {
		return ""
	}
	return prose.Tidy(strings.ReplaceAll(strings.Join(lines, " "), "``", "`"))
}
