package llmstxt

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const good = "# Name\n\n> Summary.\n\nDetails.\n\n## Docs\n\n" +
	"- [Title](https://example.com/a): note\n- [Other](docs/b.md)\n"

func TestParseReadsAGoodFile(t *testing.T) {
	doc, problems := Parse(good)
	want := &Txt{
		Title: "Name", Summary: "Summary.", Details: "Details.",
		Sections: []TxtSection{{Name: "Docs", Links: []TxtLink{
			{Title: "Title", URL: "https://example.com/a", Note: "note", Line: 9},
			{Title: "Other", URL: "docs/b.md", Line: 10},
		}}},
	}
	_, least := Parse("# Name\n")
	if len(problems)+len(least) > 0 || !reflect.DeepEqual(doc, want) {
		t.Errorf("got %+v, %v, %v", doc, problems, least)
	}
}

func TestParseResolvesEscapes(t *testing.T) {
	doc, problems := Parse("# a\\#\n\n> b\\[c\n\nd\n\n## Docs\n\n- [x\\`](u): \\<n\n")
	want := TxtLink{Title: "x`", URL: "u", Note: "<n", Line: 9}
	if len(problems) > 0 || doc.Title != "a#" || doc.Summary != "b[c" || doc.Sections[0].Links[0] != want {
		t.Errorf("got %+v, %v", doc, problems)
	}
}

// Each row breaks the good file in one place and names the rule and the line.
func TestParseFindsEachProblem(t *testing.T) {
	tests := []struct {
		old, new string
		rule     Rule
		line     int
	}{
		{"# Name\n", "<!-- made by x -->\n# Name\n", ruleTitleFirst, 1},
		{"# Name\n", "\n# Name\n", ruleTitleFirst, 1},
		{"# Name", "#Name", ruleTitleFirst, 1},
		{"# Name", "## Name", ruleTitleFirst, 1},
		{"# Name", "# ", ruleTitleFirst, 1},
		{"Details.", "# Details", ruleTitleUnique, 5},
		{"> Summary.", "> Summary.\n> more", ruleSummaryLine, 4},
		{"> Summary.", ">", ruleSummaryLine, 3},
		{"> Summary.", "> # Summary", ruleHeadingLevel, 3},
		{"Details.", "Details.\n\n> late", ruleSummaryLine, 7},
		{"Details.\n\n", "", ruleDetails, 5},
		{"Details.", "```\ncode", ruleDetails, 11},
		{"Details.", "### Details", ruleHeadingLevel, 5},
		{"Details.", "Details\n===", ruleHeadingLevel, 6},
		{"## Docs\n", "## Docs\n\n### More\n", ruleHeadingLevel, 9},
		{"## Docs\n", " ## Docs\n", ruleHeadingLevel, 7},
		{"## Docs", "## My Docs", ruleSectionName, 7},
		{"## Docs", "## .Docs", ruleSectionName, 7},
		{"## Docs", "## 1", ruleSectionName, 7},
		{"## Docs", "## xmlDocs", ruleSectionName, 7},
		{"## Docs\n", "## Docs\n\n## docs\n", ruleSectionUnique, 9},
		{"## Docs\n", "## Docs\n\nSome prose.\n", ruleLinkItem, 9},
		{"- [Title]", "* [Title]", ruleLinkItem, 9},
		{"- [Title]", "1. [Title]", ruleLinkItem, 9},
		{"- [Title]", "  - [Title]", ruleLinkItem, 9},
		{"- [Title](https://example.com/a)", "- Title", ruleLinkItem, 9},
		{"example.com/a): note", "example.com/a", ruleLinkItem, 9},
		{"): note", ") note", ruleLinkItem, 9},
		{"): note", "):note", ruleLinkItem, 9},
		{"): note", "): ", ruleLinkNote, 9},
		{"[Title]", "[]", ruleLinkTitle, 9},
		{"[Title]", "[a [b] c]", ruleLinkTitle, 9},
		{"[Title]", "[a\\]b]", ruleLinkTitle, 9},
		{"[Title]", "[a`b]", ruleLinkTitle, 9},
		{"https://example.com/a", "", ruleLinkURL, 9},
		{"https://example.com/a", "https://example.com/a b", ruleLinkURL, 9},
		{"https://example.com/a", "https://example.com/é", ruleLinkURL, 9},
		{"https://example.com/a", "https://example.com/a(1", ruleLinkURL, 9},
		{"https://example.com/a", "about:synthesis", ruleLinkURL, 9},
		{"https://example.com/a", "https:///a", ruleLinkURL, 9},
		{"example.com/a)", "example.com/a(1))", ruleLinkURL, 9},
		{"docs/b.md)\n", "docs/b.md)", ruleLineEnd, 10},
		{"docs/b.md)\n", "docs/b.md)\n\n", ruleLineEnd, 12},
		{"Details.\n", "Details.\r\n", ruleLineEnd, 5},
		{"note", "no\x1b[31mte", ruleCharacters, 9},
		{"note", "no\u202ete", ruleCharacters, 9},
		{"note", "no\u200bte", ruleCharacters, 9},
		{"note", "no\xffte", ruleCharacters, 9},
	}
	for _, test := range tests {
		text := strings.Replace(good, test.old, test.new, 1)
		if text == good {
			t.Fatalf("%q does not occur", test.old)
		}
		doc, problems := Parse(text)
		found := slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == test.rule && p.Line == test.line })
		if !found || test.new == "> Summary.\n> more" && doc.Summary != "Summary. more" {
			t.Errorf("%q: got %v, %q, want %s in line %d", test.new, problems, doc.Summary, test.rule, test.line)
		}
	}
}
