package llmstxt

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

func seeds() []string {
	return []string{
		"", "# Title\n", "# Title\n\n> Summary\n\n- Fact\n\n## Docs\n\n- [a](b): c\n", "\uFEFF# T\r\n\r\n## S\r\n", "## S\n# T\n- [a](b\n",
		"# T\n\n```\n# not a heading\n```\n\n## A\n\n- [x\\]y](z%29): \\[note\\]\n## A\n", "# T\n\nTitle\n===\n", "- [](:::)\n", "#\n>\n##\n- [](",
		"# \x1b[31m\n> \u202e\n\n## \u200b\n\n- [\xff](\x00)\n", "# T\n\n## f.go\n\n````go\n```\n````\n",
		"#\tT\n", "# T\n\n- Fact\n\n##  Docs\n\n- [a](b): c\n", "# T\n\n- Fact\n\n ## Docs\n\n- [a](b): c\n",
	}
}

// A document without problems says what its text says, line by line.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, problems := Parse(text)
		lines := strings.Count(text, "\n") + 1
		last := 0
		for _, p := range problems {
			if p.Line < last || p.Line < 1 || p.Line > lines || p.Message == "" || p.Severity() == "" {
				t.Errorf("%+v of %d lines, after line %d", p, lines, last)
			}
			last = p.Line
		}
		if len(problems) > 0 {
			return
		}
		if !utf8.ValidString(text) || !strings.HasPrefix(text, "# ") || doc.Title == "" {
			t.Errorf("no problem in %q", text)
		}
		names := map[string]bool{}
		for _, s := range doc.Sections {
			if low := strings.ToLower(s.Name); names[low] || !regexp.MustCompile(`\n##[ \t]+`+s.Name).MatchString(prose.Unescape(text)) {
				t.Errorf("the section %q of %q", s.Name, text)
			} else {
				names[low] = true
			}
			for _, l := range s.Links {
				if l.Title == "" || !strings.Contains(text, "]("+l.URL+")") {
					t.Errorf("the link %+v of %q", l, text)
				}
			}
		}
	})
}
