package rank

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source"
)

// describe fills in what the choice of the link left open.
func (v *survey) describe(c *candidate) {
	switch {
	case c.Path == v.readme.Path:
		c.Title = cmp.Or(c.Title, "README")
		c.Note = v.readme.Covers() // its first sentence is the summary
	case page.Is(c.Path) && !manifest.Known(c.Path):
		v.describePage(c)
	case c.Note != "":
	case manifest.Known(c.Path) || v.byPath[c.Path].Kind != scan.Source:
		c.Note = v.contents(c.Path)
	default:
		c.Note = source.Note(v.byPath[c.Path].Language, v.head(c.Path, sourceBytes))
	}
	c.Title = withDashes(cmp.Or(c.Title, c.Path))
	c.Note = finishNote(c.Note, c)
}

func (v *survey) describePage(c *candidate) {
	p := page.Read(c.Path, v.head(c.Path, limitOf(c.Path)))
	title := prose.Clean(strings.ReplaceAll(cmp.Or(p.Title, p.Second), "`", ""))
	if rest, ok := strings.CutPrefix(title, "Welcome to "); ok {
		title = strings.TrimPrefix(rest, "the ")
	}
	if utf8.RuneCountInString(title) > titleRunes+20 || strings.EqualFold(title, "readme") {
		title = ""
	}
	if page.Version(title) != "" || strings.EqualFold(title, "unreleased") ||
		len(title) > 20 && title == strings.ToUpper(title) {
		title = path.Base(c.Path)
	}
	switch stem := stemOf(c.Path); {
	case page.IsLicence(path.Base(c.Path)):
		if p.Lead != "" {
			c.Note = "The " + p.Lead + " licence"
		}
	case (isNoName(title) || titlesOfParts.Has(strings.ToLower(title))) && !prose.SameWords(title, stem):
		title = "" // a part of the page
	case stem == "agents" || stem == "claude":
		title = path.Base(c.Path) // begins with an order to its reader as a rule
	case strings.EqualFold(title, v.readme.Title) || strings.EqualFold(title, moduleName(v.main().about.Name)):
		title = cmp.Or(p.Second, distinction(c.Path)) // repeats the name of the whole
	}
	c.Title = cmp.Or(c.Title, title, distinction(c.Path))
	if _, reason := formal(&document{candidate: *c, Features: page.Features{Heading: title}}); reason == whatChanged {
		c.Note = cmp.Or(c.Note, p.Versions())
	}
	c.Note = cmp.Or(c.Note, p.Note(), p.Covers())
}

var titlesOfParts = words.Of("titles of parts")

// finishNote drops a note that repeats the title or says nothing, and the file's own name in front of it.
func finishNote(note string, c *candidate) string {
	if note = prose.Clean(strings.TrimSpace(note)); !strings.EqualFold(path.Ext(c.Path), ".md") {
		note = withDashes(note) // where code is not marked, "--" may be an argument
	}
	for _, dash := range []string{" - ", " — ", ": "} {
		base := path.Base(c.Path)
		if before, after, ok := strings.Cut(note, dash); ok && (before == base || dash != ": " &&
			(before == stemOf(c.Path) || before == strings.TrimSuffix(base, path.Ext(base)))) {
			note = after
		}
	}
	if prose.SameWords(note, c.Title) || prose.IsBoilerplate(note) {
		return ""
	}
	return note
}

// withDashes writes the dashes that plain text makes of hyphens.
func withDashes(s string) string {
	return strings.NewReplacer(" --- ", " — ", " -- ", " — ").Replace(s)
}
