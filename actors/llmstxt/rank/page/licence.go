package page

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

var licenceName = regexp.MustCompile(`(?i)^(?:(?:un)?licen[cs]es?|copying)(?:[-_][\w.+-]+)?(?:\.(?:md|markdown|txt|rst|adoc|html?|lesser|lib|mit|bsd|apache[\w.-]*|a?gpl[\w.-]*))?$`)

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
