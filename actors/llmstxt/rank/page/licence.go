package page

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

func IsLicence(name string) bool {
	stem := strings.ToUpper(strings.TrimSuffix(name, path.Ext(name)))
	return stem == "LICENSE" || stem == "LICENCE" || stem == "COPYING"
}

var licences = words.Of("licences")

// LicenceOf recognises the common licences by words that only they have.
func LicenceOf(text string) string {
	text = strings.ReplaceAll(strings.ToLower(prose.Tidy(text)), ", version", " version")
	for _, known := range licences {
		if id, words, _ := strings.Cut(known, "="); strings.Contains(text, words) {
			return id
		}
	}
	return ""
}
