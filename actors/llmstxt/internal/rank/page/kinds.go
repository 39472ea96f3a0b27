package page

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
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

var licenceName = lazyregexp.New(`(?i)^(?:(?:un)?licen[cs]es?|copying)(?:[-_][\w.+-]+)?(?:\.(?:md|markdown|txt|rst|adoc|html?|lesser|lib|mit|bsd|apache[\w.-]*|a?gpl[\w.-]*))?$`)

// IsLicence reports whether a file with this base name holds the text of a licence.
func IsLicence(base string) bool { return licenceName.MatchString(base) }

var licences = words.Of("licences")

// LicenceOf recognizes the common licences by words that only they have. It returns "" for any other text.
func LicenceOf(text string) string {
	text = strings.ReplaceAll(strings.ToLower(prose.Tidy(text)), ", version", " version")
	for _, known := range licences {
		if id, words, _ := strings.Cut(known, "="); strings.Contains(text, words) {
			return id
		}
	}
	return ""
}
