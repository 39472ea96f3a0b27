package page

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
)

const (
	fewestParts = 2
	mostParts   = 6   // that are named
	partsRunes  = 150 // of all their names

	mostQuestions = 2
	mostVersions  = 3
)

var furniture = words.Of("furniture")

// Covers names the headings of a page, which tell what it has where no sentence
// does. Those that every page may have do not count.
func (p Page) Covers() string {
	level := 9 // of the highest so far: what is lower is a part of that
	var parts, questions []string
	length, more := 0, 0
	for _, h := range p.subs {
		text := strings.Trim(strings.ReplaceAll(h.text, "`", ""), " .:")
		if h.level > level || h.text == p.Title || text == "" {
			continue
		}
		level = h.level
		if furniture.Start(strings.ToLower(text)) {
			continue
		}
		if strings.HasSuffix(text, "?") {
			questions = append(questions, "“"+text+"”")
			continue
		}
		if length += utf8.RuneCountInString(text); len(parts) == mostParts || length > partsRunes {
			more++
			continue
		}
		parts = append(parts, text)
	}
	switch {
	case len(questions) > len(parts) && len(questions) > mostQuestions:
		return strings.Join(questions[:mostQuestions], " ") + " …"
	case len(parts) < fewestParts:
		return ""
	case more > 0:
		return strings.Join(parts, " · ") + " · …"
	}
	return strings.Join(parts, " · ")
}

var version = regexp.MustCompile(`(?i)^\[?(?:version )?[v\[ ]*(\d{1,4}\.\d[^ \]:,]*)`)

// Version is the number that a heading of a page of changes begins with, "" for none.
func Version(heading string) string {
	if parts := version.FindStringSubmatch(heading); parts != nil {
		return strings.ToLower(parts[1])
	}
	return ""
}

// Versions names the newest versions that a page of changes has.
func (p Page) Versions() string {
	var found []string
	for _, h := range p.subs {
		_, rest, _ := strings.Cut(h.text, " ") // what follows a name
		if number := cmp.Or(Version(h.text), Version(rest)); number != "" && h.text != p.Title {
			found = append(found, number)
		}
	}
	if len(found) < fewestParts {
		return ""
	}
	if len(found) > mostVersions {
		found = append(found[:mostVersions], "…")
	}
	return "Versions " + strings.Join(found, ", ")
}
