package page

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

var pages, markdownPages, readmes = words.Of("pages"), words.Of("Markdown"), words.Of("READMEs")

// Is reports whether the file is a page, by its name.
func Is(p string) bool {
	return pages.Has(strings.ToLower(path.Ext(p))) || isMan(p) || IsReadme(p) || IsLicence(path.Base(p))
}

// IsReadme reports whether the file is a README.
func IsReadme(p string) bool {
	name := strings.ToLower(path.Base(p))
	return name == "readme" || strings.HasPrefix(name, "readme.") && pages.Has(path.Ext(name))
}

// ReadmeRank ranks READMEs: the plain name before a translation, and Markdown before other formats.
func ReadmeRank(p string) int {
	if i := slices.Index(readmes, strings.ToLower(path.Base(p))); i >= 0 {
		return i
	}
	return len(readmes)
}
