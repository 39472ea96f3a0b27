package page

import (
	"encoding/json"
	"strings"
)

// markdownOfNotebook gives the pages and the code of a notebook's cells. Of a text that ends early it takes what is
// whole.
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
			Source any
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
	return b.String()
}

// joined is a text that the format allows to be a list of lines.
func joined(source any) string {
	if s, ok := source.(string); ok {
		return s
	}
	var b strings.Builder
	lines, _ := source.([]any)
	for _, l := range lines {
		s, _ := l.(string)
		b.WriteString(s)
	}
	return b.String()
}
