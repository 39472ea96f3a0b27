package check_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
)

const good = "# Name\n\n> Summary.\n\nDetails.\n\n## Docs\n\n" +
	"- [Title](https://example.com/a): note\n- [Other](docs/b.md)\n"

func TestParseReadsAGoodFile(t *testing.T) {
	doc, problems := check.Parse(good)
	want := &check.Document{
		Title: "Name", Summary: "Summary.", Details: "Details.",
		Sections: []check.Section{{Name: "Docs", Links: []check.Link{
			{Title: "Title", URL: "https://example.com/a", Note: "note", Line: 9},
			{Title: "Other", URL: "docs/b.md", Line: 10},
		}}},
	}
	if len(problems) > 0 || !reflect.DeepEqual(doc, want) {
		t.Errorf("got %+v, %v", doc, problems)
	}
}

func TestParseResolvesEscapes(t *testing.T) {
	doc, problems := check.Parse("# a\\#\n\n> b\\[c\n\nd\n\n## Docs\n\n- [x\\`](u): \\<n\n")
	want := check.Link{Title: "x`", URL: "u", Note: "<n", Line: 9}
	if len(problems) > 0 || doc.Title != "a#" || doc.Summary != "b[c" || doc.Sections[0].Links[0] != want {
		t.Errorf("got %+v, %v", doc, problems)
	}
}

func TestParseAcceptsTheLeastFile(t *testing.T) {
	if _, problems := check.Parse("# Name\n"); len(problems) > 0 {
		t.Error(problems)
	}
}

// Each row breaks the good file in one place and names the rule and the line.
func TestParseFindsEachProblem(t *testing.T) {
	tests := []struct {
		old, new string
		rule     check.Rule
		line     int
	}{
		{"# Name\n", "<!-- made by x -->\n# Name\n", check.TitleFirst, 1},
		{"# Name\n", "\n# Name\n", check.TitleFirst, 1},
		{"# Name", "#Name", check.TitleFirst, 1},
		{"# Name", "## Name", check.TitleFirst, 1},
		{"# Name", "# ", check.TitleFirst, 1},
		{"Details.", "# Details", check.TitleUnique, 5},
		{"> Summary.", "> Summary.\n> more", check.SummaryLine, 4},
		{"> Summary.", ">", check.SummaryLine, 3},
		{"> Summary.", "> # Summary", check.HeadingLevel, 3},
		{"Details.", "Details.\n\n> late", check.SummaryLine, 7},
		{"Details.\n\n", "", check.Details, 5},
		{"Details.", "```\ncode", check.Details, 11},
		{"Details.", "### Details", check.HeadingLevel, 5},
		{"Details.", "Details\n===", check.HeadingLevel, 6},
		{"## Docs\n", "## Docs\n\n### More\n", check.HeadingLevel, 9},
		{"## Docs\n", " ## Docs\n", check.HeadingLevel, 7},
		{"## Docs", "## My Docs", check.SectionName, 7},
		{"## Docs", "## .Docs", check.SectionName, 7},
		{"## Docs", "## 1", check.SectionName, 7},
		{"## Docs", "## xmlDocs", check.SectionName, 7},
		{"## Docs\n", "## Docs\n\n## docs\n", check.SectionUnique, 9},
		{"## Docs\n", "## Docs\n\nSome prose.\n", check.LinkItem, 9},
		{"- [Title]", "* [Title]", check.LinkItem, 9},
		{"- [Title]", "1. [Title]", check.LinkItem, 9},
		{"- [Title]", "  - [Title]", check.LinkItem, 9},
		{"- [Title](https://example.com/a)", "- Title", check.LinkItem, 9},
		{"example.com/a): note", "example.com/a", check.LinkItem, 9},
		{"): note", ") note", check.LinkItem, 9},
		{"): note", "):note", check.LinkItem, 9},
		{"): note", "): ", check.LinkNote, 9},
		{"[Title]", "[]", check.LinkTitle, 9},
		{"[Title]", "[a [b] c]", check.LinkTitle, 9},
		{"[Title]", "[a\\]b]", check.LinkTitle, 9},
		{"[Title]", "[a`b]", check.LinkTitle, 9},
		{"https://example.com/a", "", check.LinkURL, 9},
		{"https://example.com/a", "https://example.com/a b", check.LinkURL, 9},
		{"https://example.com/a", "https://example.com/é", check.LinkURL, 9},
		{"https://example.com/a", "https://example.com/a(1", check.LinkURL, 9},
		{"https://example.com/a", "about:synthesis", check.LinkURL, 9},
		{"https://example.com/a", "https:///a", check.LinkURL, 9},
		{"example.com/a)", "example.com/a(1))", check.LinkURL, 9},
		{"docs/b.md)\n", "docs/b.md)", check.LineEnd, 10},
		{"docs/b.md)\n", "docs/b.md)\n\n", check.LineEnd, 12},
		{"Details.\n", "Details.\r\n", check.LineEnd, 5},
		{"note", "no\x1b[31mte", check.Characters, 9},
		{"note", "no\u202ete", check.Characters, 9},
		{"note", "no\u200bte", check.Characters, 9},
		{"note", "no\xffte", check.Characters, 9},
	}
	for _, test := range tests {
		text := strings.Replace(good, test.old, test.new, 1)
		if text == good {
			t.Fatalf("%q does not occur", test.old)
		}
		_, problems := check.Parse(text)
		found := slices.ContainsFunc(problems, func(p check.Problem) bool {
			return p.Rule == test.rule && p.Line == test.line
		})
		if !found {
			t.Errorf("%q: got %v, want %s in line %d", test.new, problems, test.rule, test.line)
		}
	}
}
