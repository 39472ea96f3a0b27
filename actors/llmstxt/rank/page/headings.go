package page

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

var furniture = words.Of("furniture")

// Headings gives the first headings below the title, without those that every page may have.
func (p Page) Headings(most int) (list []string) {
	for _, h := range p.subs {
		text := strings.Trim(strings.ReplaceAll(h.text, "`", ""), " .:")
		if text != "" && h.text != p.Title && len(list) < most && !furniture.Start(strings.ToLower(text)) {
			list = append(list, text)
		}
	}
	return list
}

var version = regexp.MustCompile(`(?i)^\[?(?:version )?[v\[ ]*(\d{1,4}\.\d[^ \]:,]*)`)

// versionOf is the number that a heading of a page of changes begins with, "" for none.
func versionOf(heading string) string {
	if parts := version.FindStringSubmatch(heading); parts != nil {
		return strings.ToLower(parts[1])
	}
	return ""
}
