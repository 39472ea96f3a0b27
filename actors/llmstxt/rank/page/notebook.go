package page

import (
	"encoding/json"
	"regexp"
	"strings"
)

// markdownOfNotebook returns the Markdown and the code of a notebook's cells. If the text is cut off, it uses the
// complete cells.
func markdownOfNotebook(text string) string {
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
			b.WriteString("```\n" + source + "\n```\n\n")
		}
	}
	return boldTitle.ReplaceAllString(b.String(), "# $1\n")
}

// boldTitle matches a first line with the notebook's title in bold.
var boldTitle = regexp.MustCompile(`\A\s*\*\*([^*\n]+[^*\n.:!])\*\*[ \t]*(?:\n|\z)`)

// joined decodes a text that the format also allows as a list of lines.
func joined(source []byte) (text string) {
	var lines []string
	if json.Unmarshal(source, &lines) == nil {
		return strings.Join(lines, "")
	}
	_ = json.Unmarshal(source, &text)
	return text
}
