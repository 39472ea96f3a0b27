package page

import (
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/scan"
)

func Is(p string) bool {
	return isPageExt(strings.TrimPrefix(strings.ToLower(path.Ext(p)), ".")) || IsMan(p) || IsReadme(p) ||
		IsLicence(path.Base(p))
}

func isPageExt(ext string) bool {
	return slices.Contains([]string{"md", "mdx", "markdown", "rst", "adoc", "asciidoc", "txt", "org", "textile",
		"rdoc", "pod", "rmd", "qmd", "livemd", "asc", "ipynb"}, ext)
}

func IsReadme(p string) bool {
	name := strings.ToLower(path.Base(p))
	ext := strings.TrimPrefix(path.Ext(name), ".")
	return name == "readme" || strings.HasPrefix(name, "readme.") && (isPageExt(ext) ||
		IsLanguageTag(ext) && scan.Language(name) == "")
}

// ReadmeRank prefers the plain name to a translation, and Markdown to others.
func ReadmeRank(p string) int {
	for i, name := range []string{"readme.md", "readme.markdown", "readme.mdx", "readme.rst", "readme.adoc",
		"readme.asciidoc", "readme.org", "readme.textile", "readme.rdoc", "readme", "readme.txt"} {
		if strings.ToLower(path.Base(p)) == name {
			return i
		}
	}
	return 99
}

func IsLanguageTag(tag string) bool {
	return len(tag) == 2 || len(tag) == 5 && (tag[2] == '-' || tag[2] == '_')
}
