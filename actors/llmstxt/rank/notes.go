package rank

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// describe fills in what the choice of the link left open.
func (b *builder) describe(c *candidate) {
	switch {
	case c.Path == b.readme.path:
		c.Title = cmp.Or(c.Title, "README")
		c.Note = b.readme.covers() // its first sentence is the summary
	case manifest.Known(c.Path):
		c.Title = cmp.Or(c.Title, c.Path)
	case isPage(c.Path):
		b.describePage(c)
	case c.Note == "":
		c.Title = cmp.Or(c.Title, c.Path)
		c.Note = SourceNote(c.Path, b.head(c.Path, sourceBytes))
	}
	c.Title = withDashes(cmp.Or(c.Title, c.Path))
	c.Note = finishNote(c.Note, c)
}

func (b *builder) describePage(c *candidate) {
	p := b.readPage(c.Path, b.head(c.Path, pageBytes))
	title := strings.ReplaceAll(cmp.Or(p.title, p.second), "`", "")
	if rest, ok := strings.CutPrefix(title, "Welcome to "); ok {
		title = strings.TrimPrefix(rest, "the ")
	}
	if utf8.RuneCountInString(title) > titleRunes+20 || strings.EqualFold(title, "readme") {
		title = ""
	}
	if versions([]string{title}) > 0 || strings.EqualFold(title, "unreleased") ||
		len(title) > 20 && title == strings.ToUpper(title) {
		title = path.Base(c.Path)
	}
	switch stem := stemOf(c.Path); {
	case stem == "agents" || stem == "claude":
		title = path.Base(c.Path) // begins with an order to its reader as a rule
	case strings.EqualFold(title, b.readme.title) || strings.EqualFold(title, moduleName(b.root().about.Name)):
		title = cmp.Or(p.second, distinction(c.Path)) // repeats the name of the whole
	}
	c.Title = cmp.Or(c.Title, title, distinction(c.Path))
	c.Note = cmp.Or(c.Note, p.note())
	if _, formal := formal(&document{candidate: *c, features: features{title: title}}); c.Note == "" && formal == "" {
		c.Note = p.covers()
	}
}

const (
	fewestParts = 2
	mostParts   = 6   // that are named
	partsRunes  = 150 // of all their names

	mostQuestions = 2
)

// covers names the headings of a page, which tell what it has where no sentence
// does. Those that every page may have do not count.
func (p page) covers() string {
	level := 9 // of the highest so far: what is lower is a part of that
	var parts, questions []string
	length, more := 0, 0
	for _, h := range p.subs {
		text := strings.Trim(strings.ReplaceAll(h.text, "`", ""), " .:")
		if h.level > level || h.text == p.title || text == "" {
			continue
		}
		level = h.level
		if isFurniture(text) {
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

// isFurniture tells the headings that say nothing of what a page is about.
func isFurniture(heading string) bool {
	low := strings.ToLower(heading)
	return prose.StartsWithAny(low, "licen", "contribut", "sponsor", "backers", "badge", "acknowledg", "thanks",
		"credits", "table of contents", "contents", "authors", "maintainers", "team", "community", "support",
		"copyright", "related", "star history", "code of conduct", "security", "donat", "see also", "further reading",
		"references")
}

// finishNote drops a note that repeats the title or says nothing, and the file's own name in front of it.
func finishNote(note string, c *candidate) string {
	if note = strings.TrimSpace(note); !strings.EqualFold(path.Ext(c.Path), ".md") {
		note = withDashes(note) // where code is not marked, "--" may be an argument
	}
	for _, dash := range []string{" - ", " — ", ": "} {
		before, after, ok := strings.Cut(note, dash)
		if ok && (before == path.Base(c.Path) || before == c.Path || dash != ": " && before == stemOf(c.Path)) {
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
