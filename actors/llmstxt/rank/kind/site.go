package kind

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
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
				strings.HasPrefix(path.Base(rest), "_") && isPage(rest) || !t.Library && isProgram(rest) && isOfSite(rest) {
				found.Aside = append(found.Aside, p)
			}
		}
	}
	return found
}

func isPage(p string) bool { return path.Ext(p) == ".md" || path.Ext(p) == ".mdx" }

func isProgram(p string) bool {
	return slices.Contains([]string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".css", ".astro"}, path.Ext(p))
}

func isOfSite(p string) bool {
	first, _, below := strings.Cut(p, "/")
	return !below || first == "src" || first == "plugins" || first == "theme" || first == "components"
}
