package check_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/check"
)

func seeds() []string {
	return []string{
		"", "# Title\n", "# Title\n\n> Summary\n\n- Fact\n\n## Docs\n\n- [a](b): c\n", "\uFEFF# T\r\n\r\n## S\r\n", "## S\n# T\n- [a](b\n",
		"# T\n\n```\n# not a heading\n```\n\n## A\n\n- [x\\]y](z%29): \\[note\\]\n## A\n", "# T\n\nTitle\n===\n", "- [](:::)\n", "#\n>\n##\n- [](",
		"# \x1b[31m\n> \u202e\n\n## \u200b\n\n- [\xff](\x00)\n", "# T\n\n## f.go\n\n````go\n```\n````\n",
	}
}

// A document without problems says what its text says, line by line.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, problems := check.Parse(text)
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
			if low := strings.ToLower(s.Name); names[low] || !strings.Contains(text, "\n## "+s.Name) {
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

// However it is written, a text is judged the same.
func FuzzFull(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, step int) {
		var whole, parts check.Full
		whole.Write([]byte(text))
		step = max(step%97, 1)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			parts.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		a, b := whole.Finish(), parts.Finish()
		if (a == nil) != (b == nil) || a != nil && a.Rule != b.Rule {
			t.Errorf("%v as a whole, %v in parts of %d", a, b, step)
		}
	})
}

var docText = regexp.MustCompile(`(?sm)^(<doc[ >][^\n]*\n).*?^</doc>\n`)

// What is accepted as an llms-ctx.txt is well-formed XML but for the text of files, however it is written.
func FuzzCtx(f *testing.F) {
	const whole = "<project title=\"a &amp; b\" summary=\"\">\n- c\n<docs>\n<doc title=\"d\" desc=\"e\" cut=\"1 byte\">\nü &lt;\n</doc>\n</docs>\n</project>\n"
	f.Add(whole)
	for _, damage := range [][2]string{{"&amp;", "&"}, {"</docs>\n", ""}, {"<docs>\n", ""}, {"- c", "<c"}, {"ü", "\x01"}, {"ü", "\xff"},
		{"ü", "\uFFFF"}, {"</project>", "</project>\n<project>\n</project>"}, {"<project", "a\n<project"}, {"</doc>", "</dog>"},
		{"</project>\n", "</project>"}, {whole, ""}, {"\"d\"", "\"d"}, {"&lt;", "</doc >"}} {
		text := strings.Replace(whole, damage[0], damage[1], 1)
		if ctxAccepts(f, text) {
			f.Errorf("%q is accepted", text)
		}
		f.Add(text)
	}
	if !ctxAccepts(f, whole) {
		f.Error("a whole file is not accepted")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !ctxAccepts(t, text) {
			return
		}
		text = docText.ReplaceAllString(text, "$1</doc>\n") // stands as it is
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%v in %q", err, text)
			}
		}
	})
}

// ctxAccepts also checks that it does not matter in what parts the text is written.
func ctxAccepts(t testing.TB, text string) bool {
	var whole, parts check.Ctx
	if _, err := whole.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for i := range len(text) {
		if _, err := parts.Write([]byte(text[i : i+1])); err != nil {
			t.Fatal(err)
		}
	}
	a, b := whole.Finish(), parts.Finish()
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("%q as a whole: %v; byte by byte: %v", text, a, b)
	}
	return a == nil
}
