package page

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

var pages, markdownPages, readmes = words.Of("pages"), words.Of("Markdown"), words.Of("READMEs")

func Is(p string) bool {
	return pages.Has(strings.ToLower(path.Ext(p))) || IsMan(p) || IsReadme(p) || IsLicence(path.Base(p))
}

func IsReadme(p string) bool {
	name := strings.ToLower(path.Base(p))
	ext, ok := strings.CutPrefix(name, "readme.")
	return name == "readme" || ok && (pages.Has(path.Ext(name)) || IsLanguageTag(ext) && scan.Language(name) == "")
}

// ReadmeRank prefers the plain name to a translation, and Markdown to others.
func ReadmeRank(p string) int {
	if i := slices.Index(readmes, strings.ToLower(path.Base(p))); i >= 0 {
		return i
	}
	return len(readmes)
}

func IsLanguageTag(tag string) bool {
	return len(tag) == 2 || len(tag) == 5 && (tag[2] == '-' || tag[2] == '_')
}
