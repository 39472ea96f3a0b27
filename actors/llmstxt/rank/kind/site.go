package kind

import (
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// siteFiles configure the programs that make sites of pages.
var siteFiles = words.Of("files of sites")

// site is one of documentation: its pages count, and not the program that shows them, older versions, other
// languages, or news.
func site(t Tree) Found {
	found := Found{Why: "of the site's making, an older version, another language or news"}
	for _, config := range t.named(siteFiles...) {
		root := path.Dir(config)
		for _, p := range t.below(root) {
			rest := strings.TrimPrefix(p, root+"/")
			if hasSegment(rest, "blog", "news", "versioned_docs", "i18n", "_partials", "_snippets", "snippets") ||
				strings.HasPrefix(path.Base(rest), "_") && prose.EndsWithAny(rest, ".md", ".mdx") ||
				!t.Library && program.MatchString(rest) {
				found.Aside = append(found.Aside, p)
			}
		}
	}
	return found
}

// program is a part of what shows the pages.
var program = regexp.MustCompile(`^(?:[^/]+|(?:src|plugins|theme|components)/.*)\.(?:[cm]?js|[jt]sx?|css|astro)$`)
