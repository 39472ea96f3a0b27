package rank

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// describe fills in the title and the note of a chosen link.
func (v *survey) describe(c *item) {
	switch {
	case c.Path == v.readme.Path:
		c.Title, c.Contents = cmp.Or(c.Title, "README"), v.readme.Heads() // its first sentence is the summary already
	case page.Is(c.Path) && !manifest.Known(c.Path):
		v.describePage(c)
		c.Contents = finishNote(c.Contents, c)
	case c.Note != "":
	case c.file.Kind == scan.Source:
		c.Note = source.Note(v.byPath[c.Path].Language, v.head(c.Path, sourceBytes))
	}
	if c.command || c.members != "" && c.class == classSource {
		c.Title = cmp.Or(c.Title, c.members)
	}
	c.Title = withDashes(cmp.Or(c.Title, c.Path))
	c.Note = finishNote(c.Note, c)
}

// describePage fills in title and note of a page. It replaces a title that names only a part, or repeats the project's.
func (v *survey) describePage(c *item) {
	text := v.head(c.Path, limitOf(c.Path))
	if whole := page.FeaturesOf(c.Path, text).Includes; whole != "" {
		text = cmp.Or(v.head(path.Join(path.Dir(c.Path), whole), limitOf(c.Path)), text)
	}
	p := page.Read(c.Path, text)
	title := strings.TrimPrefix(prose.Clean(strings.ReplaceAll(cmp.Or(p.Title, p.Second), "`", "")), "$ ")
	if utf8.RuneCountInString(title) > titleRunes+20 || strings.EqualFold(title, "readme") || prose.Instructs(title) {
		title = ""
	}
	if c.class == classOptional && !isSkill(c.Path) {
		title = path.Base(c.Path)
	}
	switch stem := stemOf(c.Path); {
	case page.IsLicence(path.Base(c.Path)):
		if p.Lead != "" {
			c.Note = "The " + p.Lead + " licence"
		}
	case c.listed == 0 && (isNoName(title) || titlesOfParts.Has(strings.ToLower(title))) && !prose.SameWords(title, stem):
		title = "" // the heading of a part, not of the page
	case title != "" && (strings.EqualFold(title, v.readme.Title) || strings.EqualFold(title, moduleName(v.main().About.Name))):
		title = p.Second // it repeats the name of the project
	}
	if c.members != "" && c.class == classPage {
		c.Title = cmp.Or(c.Title, c.members)
	}
	name := distinction(c.Path)
	if name == c.Path {
		name = site.Readable(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	} else if base := path.Base(name); base == "docs" || base == "doc" {
		name = "Documentation"
	}
	c.Title = cmp.Or(c.Title, title, c.label, name)
	c.Note, c.Contents = cmp.Or(c.Note, p.Note()), cmp.Or(c.Contents, p.Contents())
	if m := documents.FindStringSubmatch(text); m != nil {
		c.Contents = cmp.Or(c.Contents, "the API of `"+m[1]+"`")
	}
}

// documents matches a directive that documents a name of the code.
var documents = lazyregexp.New("(?m)^(?:\\.\\. auto\\w+:: |::: ?|```\\{auto\\w+\\} )([\\w.]+)$")

// remark says what a file is, for one that says nothing of itself.
func (c *item) remark() string {
	base := path.Base(c.Path)
	switch {
	case c.class == classSource && c.role != "":
		return c.role
	case c.class == classExample:
		return "an example"
	case page.IsReadme(c.Path):
		return "the README of " + path.Dir(c.Path)
	case c.class == classPage:
		return "a page of the documentation"
	case c.class == classSource:
		return strings.TrimSpace(c.file.Language + " source")
	case c.file.Kind == scan.Manifest:
		return "a manifest"
	case c.class == classSetting:
		return "settings"
	case page.IsLicence(base):
		return "the licence"
	case isForAgents(base):
		return "instructions for agents"
	case isContributing(base):
		return "how to contribute"
	case strings.HasPrefix(strings.ToLower(base), "security"):
		return "how to report a vulnerability"
	}
	return "what changed from version to version"
}

var titlesOfParts = words.Of("titles of parts")

// finishNote drops a note that repeats the title or says nothing. It removes the file's own name from the beginning
// of the note.
func finishNote(note string, c *item) string {
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
	if prose.SameWords(note, c.Title) || prose.IsBoilerplate(note) || codeMark.MatchString(note) || needsNeighbours.MatchString(note) {
		return ""
	}
	return strings.TrimSuffix(note, ":")
}

var (
	codeMark        = lazyregexp.New(`=> |-> |[;{]$|^[({<@]|:= |^(export|const|let|import|async fn|fn|def) |\(\) \{`)
	needsNeighbours = lazyregexp.New(`(?i)^(as (discussed|mentioned|described|shown|noted|seen|explained)|in the (previous|last|next) |so far|then,|and |but |however|therefore|thus|also,|this (means|way|can be)|now that|again|it |they |these |those |that |see also|for example|e\.g\.)|\bfollowing\b[^.]*:$`)
)

// withDashes replaces the hyphens that plain text uses for dashes.
func withDashes(s string) string {
	return strings.NewReplacer(" --- ", " — ", " -- ", " — ").Replace(s)
}

// dropCommonNotes removes what occurs at the top of many files, licences and the name of the project, from notes, and
// likewise from what stands for them.
func (r *ranking) dropCommonNotes(list []*item) {
	dropCommon(list, func(x *item) *string { return &x.Note })
	dropCommon(list, func(x *item) *string { return &x.Contents })
	for _, x := range list {
		if x.Note == "" && x.Contents == "" && x.Path != r.readme.Path {
			x.Contents = x.remark()
		}
	}
	others := slices.DeleteFunc(slices.Clone(list), func(x *item) bool { return x.class == classPage }) // navigation says what pages are
	dropCommon(others, func(x *item) *string { return &x.Contents })
}

func dropCommon(list []*item, text func(x *item) *string) {
	times := make(map[string]int)
	for _, x := range list {
		times[*text(x)]++
	}
	for _, x := range list {
		if times[*text(x)] >= commonNotes {
			*text(x) = ""
		}
	}
}
