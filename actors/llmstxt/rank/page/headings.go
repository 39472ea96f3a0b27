package page

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

var furniture = words.Of("furniture")

// Headings returns the first headings below the title, without those that any page may have.
func (p Page) Headings(most int) (list []string) {
	for _, h := range p.subs {
		text := strings.Trim(strings.ReplaceAll(h.text, "`", ""), " .:")
		if text != "" && h.text != p.Title && len(list) < most && !furniture.Start(strings.ToLower(text)) {
			list = append(list, text)
		}
	}
	return list
}
