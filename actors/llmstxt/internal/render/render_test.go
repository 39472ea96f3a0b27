package render_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
)

var docText = regexp.MustCompile(`(?sm)^(<doc[ >][^\n]*\n).*?^</doc>\n`)

// accepted holds llms-ctx.txt to its form: well-formed XML but for the text of files, which ends no element but its own.
func accepted(t interface{ Fatalf(string, ...any) }, text []byte) {
	for d := xml.NewDecoder(bytes.NewReader(docText.ReplaceAll(text, []byte("$1</doc>\n")))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
	if !bytes.HasSuffix(text, []byte("\n</project>\n")) || bytes.Contains(docText.ReplaceAll(text, nil), []byte("</doc>")) {
		t.Fatalf("an element is not whole in\n%s", text)
	}
	if starts, ends := bytes.Count(text, []byte("\n<doc title=")), bytes.Count(text, []byte("</doc>")); starts < ends {
		t.Fatalf("%d elements begin and %d end in\n%s", starts, ends, text)
	}
}

// anyText draws what repositories and those who mean ill put into names.
func anyText() *rapid.Generator[string] {
	trouble := rapid.SampledFrom([]string{"]", "[", ")", "(", "](", "\n", "\r\n", "# ", "## x", "> ", "- ", "`", "```", "<", "<!--", "\\",
		"\x1b[31m", "\x1b]0;x\x07", "\u202e", "\u200b", "\U000e0041", "\x00", "\xff", "%", "%4", "://", "https://", "javascript:", "a", "é", " ",
		"Optional", "1.", "===", "&", "\"", "'", "]]>", "\u2028", "{#id}", "|", "*", "_", "~~~", "xml", "\uFFFE"})
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(trouble, 0, 6), func(parts []string) string { return strings.Join(parts, "") }),
	)
}

func anyIndex() *rapid.Generator[*rank.Index] {
	return rapid.Custom(func(t *rapid.T) *rank.Index {
		text := anyText()
		link := rapid.Custom(func(t *rapid.T) rank.Link {
			return rank.Link{Title: text.Draw(t, "title"), URL: text.Draw(t, "url"), Note: text.Draw(t, "note"), Path: text.Draw(t, "path")}
		})
		section := rapid.Custom(func(t *rapid.T) rank.Section {
			return rank.Section{Name: text.Draw(t, "section"), Links: rapid.SliceOfN(link, 0, 3).Draw(t, "links")}
		})
		fact := rapid.Custom(func(t *rapid.T) rank.Fact { return rank.Fact{Name: text.Draw(t, "fact"), Value: text.Draw(t, "value")} })
		return &rank.Index{
			Title: text.Draw(t, "name"), Summary: text.Draw(t, "summary"),
			Facts:    rapid.SliceOfN(fact, 0, 3).Draw(t, "facts"),
			Sections: rapid.SliceOfN(section, 0, 4).Draw(t, "sections"),
		}
	})
}

// Whatever the index holds, llms.txt is valid and says the same.
func TestTxtIsValidByConstruction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := anyIndex().Draw(t, "index")
		var out bytes.Buffer
		must(t, render.Txt(&out, index))
		doc, problems := llmstxt.Parse(out.String())
		for _, p := range problems {
			if !p.Rule.Strict() {
				t.Fatalf("%v in\n%s", p, out.String())
			}
		}
		sameLinks(t, index, doc)
		if clean := plainText(index.Summary); clean && doc.Summary != strings.Join(strings.Fields(index.Summary), " ") {
			t.Fatalf("summary %q becomes %q", index.Summary, doc.Summary)
		}
	})
}

// plainText holds for texts that cleaning leaves alone but for their spaces.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) && !unicode.IsSpace(r) || r == unicode.ReplacementChar || r >= 0xE0100
	}) && !strings.ContainsRune(s, 0x1b)
}

func sameLinks(t *rapid.T, index *rank.Index, doc *llmstxt.Txt) {
	var want []rank.Link
	for _, s := range index.Sections {
		for _, l := range s.Links {
			if l.URL != "" {
				want = append(want, l)
			}
		}
	}
	var got []llmstxt.TxtLink
	for _, s := range doc.Sections {
		got = append(got, s.Links...)
	}
	if len(got) != len(want) {
		t.Fatalf("%d links become %d", len(want), len(got))
	}
	for i, l := range want {
		brackets := strings.NewReplacer("[", "(", "]", ")")
		if plainText(l.Title) && strings.TrimSpace(l.Title) != "" && got[i].Title != brackets.Replace(strings.Join(strings.Fields(l.Title), " ")) {
			t.Fatalf("title %q becomes %q", l.Title, got[i].Title)
		}
		if plainText(l.Note) && got[i].Note != strings.Join(strings.Fields(l.Note), " ") {
			t.Fatalf("note %q becomes %q", l.Note, got[i].Note)
		}
	}
}

// Whatever files and index hold, no file ends its element in llms-ctx.txt, and llms-full.txt shows each file between fences that it does
// not close itself.
func TestFullAndCtxHoldAnyFile(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	rapid.Check(t, func(t *rapid.T) {
		index := anyIndex().Draw(t, "index")
		text := strings.Join(rapid.SliceOf(anyText()).Draw(t, "lines"), "\n")
		must(t, os.WriteFile(filepath.Join(dir, "f.md"), []byte(text), 0o644))
		index.Sections = append(index.Sections, rank.Section{Name: "Docs", Links: []rank.Link{{Title: "f", URL: "f.md", Path: "f.md"}}})
		var ctx, full bytes.Buffer
		_, err := render.Ctx(context.Background(), &ctx, root.FS(), index, render.Format2, render.Pack{FileBytes: 50})
		must(t, err)
		accepted(t, ctx.Bytes())
		index = &rank.Index{Title: "t", Sections: index.Sections[len(index.Sections)-1:]}
		_, err = render.Full(context.Background(), &full, root.FS(), index, render.Pack{})
		must(t, err)
		fences(t, full.String())
	})
}

func fences(t *rapid.T, full string) {
	_, body, ok := strings.Cut(full, "\n## f.md\n\n")
	if !ok {
		t.Fatalf("no header in\n%s", full)
	}
	fence := body[:len(body)-len(strings.TrimLeft(body, "`"))]
	if len(fence) < 3 || strings.Count(body, fence) != 2 || !strings.HasSuffix(body, "\n"+fence+"\n") {
		t.Fatalf("the fence %s is not around the whole of\n%s", fence, body)
	}
}

// Sections have the names that people gave them; llms-ctx.txt makes elements of them.
func TestNamesOfSections(t *testing.T) {
	var txt, ctx bytes.Buffer
	index := &rank.Index{Title: "t"}
	for _, name := range []string{"Start here", "start HERE", "", "1. .Github", "XML", "高并发", "Höhe #", "Optional"} {
		index.Sections = append(index.Sections, rank.Section{Name: name, Links: []rank.Link{{Title: "t", URL: "u", Path: "f" + name}}})
	}
	index.Sections = append(index.Sections, rank.Section{Name: "gone"})
	must(t, render.Txt(&txt, index))
	_, err := render.Ctx(t.Context(), &ctx, fstest.MapFS{}, index, render.Format2, render.Pack{})
	must(t, err)
	doc, _ := llmstxt.Parse(txt.String())
	var names []string
	for _, s := range doc.Sections {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, "|"), "Start here|start HERE-2|Section|1. .Github|XML|高并发|Höhe #|Optional"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for tag := range strings.FieldsSeq("start-here start-here-2 section section-1-github section-xml section-2 h-he optional") {
		if !strings.Contains(ctx.String(), "<"+tag+">\n") {
			t.Errorf("no element %s in\n%s", tag, ctx.String())
		}
	}
}

func TestURLsStayWhatTheyAre(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/o/r/blob/0123/a.md": "https://github.com/o/r/blob/0123/a.md",
		"docs/a%20b.md?x=1#y":                   "docs/a%20b.md?x=1#y",
		"a b(c).md":                             "a%20b%28c%29.md",
		"é":                                     "%C3%A9",
		"100%":                                  "100%25",
		"javascript:alert(1)":                   "./javascript%3Aalert%281%29",
		"about:blank":                           "./about%3Ablank",
		"https://[x":                            "./https%3A//%5Bx",
	} {
		var out bytes.Buffer
		index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "s", Links: []rank.Link{{Title: "t", URL: url}}}}}
		must(t, render.Txt(&out, index))
		doc, problems := llmstxt.Parse(out.String())
		if got := doc.Sections[0].Links[0].URL; got != want || len(problems) > 0 {
			t.Errorf("%s becomes %s, want %s; %v", url, got, want, problems)
		}
	}
}

func TestFullSaysWhatIsMissing(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	for name, text := range map[string]string{"a.md": "12345\n67890\nabc\n", "b.md": "b\n", "c.md": "c\n"} {
		must(t, root.WriteFile(name, []byte(text), 0o644))
	}
	var links []rank.Link
	for _, name := range []string{"a.md", "gone.md", "a.md", "b.md", "c.md"} {
		links = append(links, rank.Link{Title: name, URL: name, Path: name})
	}
	index := &rank.Index{Title: "t", Facts: []rank.Fact{{Name: "n", Value: "v"}}, Sections: []rank.Section{{Name: "Docs", Links: links}}}
	var out bytes.Buffer
	_, err = render.Full(t.Context(), &out, root.FS(), index, render.Pack{FileBytes: 13})
	must(t, err)
	want := "# t\n\n- n: v\n" +
		"\n## a.md\n\n```md\n12345\n67890\n```\n\nCut: 4 more bytes.\n" +
		"\n## gone.md\n\nLeft out: cannot be read.\n" +
		"\n## b.md\n\n```md\nb\n```\n" +
		"\n## c.md\n\n```md\nc\n```\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRenderHeedsItsContext(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	must(t, root.WriteFile("a.md", []byte("a"), 0o644))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: "a", URL: "a.md", Path: "a.md"}}}}}
	if _, err := render.Full(ctx, io.Discard, root.FS(), index, render.Pack{}); err != cause {
		t.Errorf("Full returns %v", err)
	}
	if _, err := render.Ctx(ctx, io.Discard, root.FS(), index, render.Format2, render.Pack{}); err != cause {
		t.Errorf("Ctx returns %v", err)
	}
}

func TestCodeSpansAreNotEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"Holds a `Vec<u32>` of [x]": "Holds a `Vec<u32>` of \\[x\\]",
		"One ` and <b>":             "One \\` and \\<b>",
		"Takes ``a`[\\``, or `\\`":  "Takes ``a`[\\``, or `\\`",
	} {
		if got := sanitize.Inline(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSecretsInFilesAreRedacted(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a", 36)
	for kind, got := range rendered(t, "It is "+token+".\n") {
		if !strings.Contains(got, "It is [redacted].") {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// rendered puts the text where secrets can come from.
func rendered(t *testing.T, text string) map[string]string {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	must(t, root.WriteFile("a.md", []byte(text), 0o644))
	var full, ctx bytes.Buffer
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: "a", URL: "a.md", Path: "a.md"}}}}}
	_, err = render.Full(t.Context(), &full, root.FS(), index, render.Pack{})
	must(t, err)
	_, err = render.Ctx(t.Context(), &ctx, root.FS(), index, render.Format2, render.Pack{})
	must(t, err)
	return map[string]string{"Full": full.String(), "Ctx": ctx.String()}
}

func TestSecretsInNotesAreRedacted(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("a", 36)
	hidden := token[:10] + "\u200b" + token[10:] // cleaning would put it together
	for _, secret := range []string{token, hidden} {
		var out bytes.Buffer
		index := &rank.Index{Title: secret, Summary: secret, Facts: []rank.Fact{{Name: "n", Value: secret}},
			Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: secret, URL: "a", Note: secret}}}}}
		must(t, render.Txt(&out, index))
		if strings.Contains(out.String(), token) || strings.Count(out.String(), "redacted") != 5 {
			t.Errorf("got\n%s", out.String())
		}
	}
}
