package render_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
)

// The longest section gives up its least important links first, and Optional its own last.
func TestFitDropsTheLeastImportant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := anyIndex().Draw(t, "index")
		for i, s := range index.Sections {
			for j := range s.Links {
				index.Sections[i].Links[j].Score = rapid.IntRange(0, 3).Draw(t, "score")
			}
		}
		budget := int64(rapid.IntRange(0, 2000).Draw(t, "budget"))
		fitting, dropped, least := render.Fit(index, budget)
		var text bytes.Buffer
		must(t, render.Txt(&text, fitting))
		if int64(text.Len()) > max(budget, least) {
			t.Fatalf("%d bytes, over the budget of %d", text.Len(), budget)
		}
		if count(fitting)+len(dropped) != count(index) {
			t.Fatalf("%d links become %d and %d dropped ones", count(index), count(fitting), len(dropped))
		}
	})
	link := func(title string, score int) rank.Link { return rank.Link{Title: title, URL: title, Score: score} }
	index := &rank.Index{Title: "t", Sections: []rank.Section{
		{Name: "Docs", Links: []rank.Link{link("a", 1), link("b", 9)}},
		{Name: "Source", Links: []rank.Link{link("c", 9), link("d", 2), link("e", 3)}},
		{Name: rank.Optional, Links: []rank.Link{link("AGENTS.md", 0)}},
	}}
	_, dropped, _ := render.Fit(index, 1)
	var order []string
	for _, l := range dropped {
		order = append(order, l.Title)
	}
	if got := strings.Join(order, " "); got != "d e a c b AGENTS.md" {
		t.Errorf("given up in the order %s", got)
	}
}

func count(index *rank.Index) int {
	n := 0
	for _, s := range index.Sections {
		n += len(s.Links)
	}
	return n
}

func TestPackKeepsWithinItsBudget(t *testing.T) {
	files := fstest.MapFS{}
	var docs, optional []rank.Link
	for i := range 9 {
		name := fmt.Sprintf("f%d.md", i)
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat(name+" <&>\n", 400))}
		if i < 6 {
			docs = append(docs, rank.Link{Title: name, URL: name, Path: name, Score: i})
		} else if i < 8 {
			optional = append(optional, rank.Link{Title: name, URL: name, Path: name, Score: 100})
		}
	}
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: docs}, {Name: rank.Optional, Links: optional}}}
	importance := []string{"f5.md", "f4.md", "f3.md", "f2.md", "f1.md", "f0.md", "f6.md", "f7.md", "f8.md"}
	for budget := int64(2000); budget < 60000; budget += 777 {
		var full, ctx bytes.Buffer
		dropped, err := render.Full(t.Context(), &full, files, index, render.Pack{Bytes: budget, Rest: []string{"f8.md", "f1.md"}})
		must(t, err)
		if int64(full.Len()) > budget || !slices.Equal(dropped, importance[len(importance)-len(dropped):]) {
			t.Errorf("llms-full.txt with a budget of %d has %d bytes and lacks %v", budget, full.Len(), dropped)
		}
		said := map[string]bool{}
		for file := range strings.SplitSeq(full.String(), "\n## ") {
			name, text, _ := strings.Cut(file, "\n")
			said[name] = text == "\nLeft out: over the size budget.\n" || strings.Contains(text, "\nCut: ")
		}
		for _, name := range importance {
			if said[name] != slices.Contains(dropped, name) {
				t.Errorf("with a budget of %d, %s is dropped without a word, or not dropped", budget, name)
			}
		}
		dropped, err = render.Ctx(t.Context(), &ctx, files, index, render.Format2, render.Pack{Bytes: budget})
		must(t, err)
		if int64(ctx.Len()) > budget || !slices.Equal(dropped, importance[8-len(dropped):8]) {
			t.Errorf("llms-ctx.txt with a budget of %d has %d bytes and lacks %v", budget, ctx.Len(), dropped)
		}
		accepted(t, ctx.Bytes())
	}
}

func TestPackKeepsWithinItsTokens(t *testing.T) {
	files := fstest.MapFS{}
	var links []rank.Link
	for i := range 9 {
		name := fmt.Sprintf("f%d.md", i)
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat("It has <some> words & more.\n", 400))}
		links = append(links, rank.Link{Title: name, URL: name, Path: name, Score: 9 - i})
	}
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: links}}}
	whole := 0
	for budget := int64(1000); budget < 50000; budget += 1777 {
		pack := render.Pack{Tokens: budget}
		var full, ctx bytes.Buffer
		dropped, err := render.Full(t.Context(), &full, files, index, pack)
		must(t, err)
		_, err = render.Ctx(t.Context(), &ctx, files, index, render.Format2, pack)
		must(t, err)
		for kind, text := range map[string]string{"llms-full.txt": full.String(), "llms-ctx.txt": ctx.String()} {
			if n := tokens.Count(text); int64(n) > budget || n < int(budget)/2 && budget > 4000 && len(dropped) > 0 {
				t.Errorf("%s with a budget of %d has %d tokens", kind, budget, n)
			}
		}
		if len(dropped) == 0 {
			whole++
		}
	}
	if whole == 0 {
		t.Error("no budget holds everything")
	}
}

// The words that files are left out do not take the room of the files, nor more than there is.
func TestPackOfManyFilesKeepsWithinItsBudget(t *testing.T) {
	files := fstest.MapFS{}
	var links []rank.Link
	for i := range 400 {
		name := fmt.Sprintf("docs/page-%d.md", i)
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat(name+"\n", 40))}
		links = append(links, rank.Link{Title: name, URL: name, Path: name, Score: 1000 - i})
	}
	index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: links}}}
	for _, budget := range []int64{2048, 5000, 20000, 100000} { // the last has room for all the words
		var full, ctx bytes.Buffer
		dropped, err := render.Full(t.Context(), &full, files, index, render.Pack{Bytes: budget})
		must(t, err)
		lost, err := render.Ctx(t.Context(), &ctx, files, index, render.Format2, render.Pack{Bytes: budget})
		must(t, err)
		for name, text := range map[string]string{"llms-full.txt": full.String(), "llms-ctx.txt": ctx.String()} {
			if int64(len(text)) > budget || !strings.Contains(text, strings.Repeat("docs/page-0.md\n", 40)) {
				t.Errorf("%s with a budget of %d has %d bytes:\n%.200s", name, budget, len(text), text)
			}
		}
		noted := strings.Count(full.String(), "\n\nLeft out: over the size budget.\n")
		silent := fmt.Sprintf("\nLeft out: %d more, over the size budget.\n", len(dropped)-noted)
		if strings.HasSuffix(full.String(), silent) != (len(dropped) > noted) || len(lost) == 0 || noted == 0 {
			t.Errorf("with a budget of %d, %d are dropped and %d noted, and it ends in %.60q", budget, len(dropped), noted,
				full.String()[full.Len()-60:])
		}
		accepted(t, ctx.Bytes())
	}
}

// Repository text is never trusted: nothing in any output steers a terminal, reorders text or hides in it.
func TestFilesAreNeutralised(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mred\x1b]0;x\x07\n":             "a\uFFFD[31mred\uFFFD]0;x\uFFFD\n",
		"if x {\u202E}\u2066 // \u200Eok\n":      "if x {\uFFFD}\uFFFD // \uFFFDok\n",
		"ze\u200Bro\u2060 \uFEFFwi\u00ADdth\n":   "zero width\n",
		"tags \U000E0041\U000E0042.\U000E0101\n": "tags .\n",
		"a\r\nb\rc\u2028d\n":                     "a\nb\nc\nd\n",
		"bad \xff\xfe utf-8 \x80\n":              "bad \uFFFD\uFFFD utf-8 \uFFFD\n",
		"می\u200cخواهم, 👨\u200d👩, a\u200db\n":    "می\u200cخواهم, 👨\u200d👩, ab\n",
		"\uFEFFplain\ttext\n":                    "plain\ttext\n",
		"nel \u0085 and c1 \u009b31m\n":          "nel \uFFFD and c1 \uFFFD31m\n",
	} {
		files := fstest.MapFS{"f.md": {Data: []byte(text)}}
		index := &rank.Index{Title: "t", Sections: []rank.Section{{Name: "Docs", Links: []rank.Link{{Title: "f", URL: "f", Path: "f.md"}}}}}
		var full, ctx bytes.Buffer
		_, err := render.Full(t.Context(), &full, files, index, render.Pack{})
		must(t, err)
		_, err = render.Ctx(t.Context(), &ctx, files, index, render.Format2, render.Pack{})
		must(t, err)
		if !strings.Contains(full.String(), "```md\n"+want+"```") || !strings.Contains(ctx.String(), ">\n"+want+"</doc>") && !strings.ContainsAny(want, "<>&") {
			t.Errorf("%q becomes\n%q\nand\n%q", text, full.String(), ctx.String())
		}
	}
}

// isWhole holds llms-full.txt to its form: a title, then text and fenced files under headings of level 2.
func isWhole(t *rapid.T, text string) {
	fence := ""
	for number, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
		case len(ticks) >= 3:
			fence = ticks
		case strings.HasPrefix(line, "# ") != (number == 0),
			strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") && number > 0 && !strings.HasPrefix(line, "## "):
			t.Fatalf("line %d is %q in\n%s", number, line, text)
		}
	}
	if fence != "" || !strings.HasSuffix(text, "\n") {
		t.Fatalf("it ends within a file or a line:\n%s", text)
	}
}

// Full keeps its form whatever the files hold.
func TestFullIsWholeByConstruction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := anyIndex().Draw(t, "index")
		text := strings.Join(rapid.SliceOf(anyText()).Draw(t, "lines"), "\n")
		index.Sections = append(index.Sections, rank.Section{Name: "D", Links: []rank.Link{{Title: "f", URL: "f.md", Path: "f.md"}}})
		var full bytes.Buffer
		_, err := render.Full(t.Context(), &full, fstest.MapFS{"f.md": {Data: []byte(text)}}, index, render.Pack{})
		must(t, err)
		isWhole(t, full.String())
		hidden := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
		if !utf8.Valid(full.Bytes()) || bytes.ContainsFunc(full.Bytes(), hidden) {
			t.Fatalf("control characters or invalid UTF-8 in %q", full.String())
		}
	})
}

// Licences and changelogs are the first to go, and no file is packed twice.
func TestPackOrder(t *testing.T) {
	text := &fstest.MapFile{Data: []byte(strings.Repeat("words\n", 400))}
	files := fstest.MapFS{"LICENSE.md": text, "CHANGELOG.md": text, "guide.md": text, "extra.md": text}
	link := func(name string, score int) rank.Link {
		return rank.Link{Title: name, URL: name, Path: name, Score: score}
	}
	index := &rank.Index{Title: "t", Sections: []rank.Section{
		{Name: "Docs", Links: []rank.Link{link("LICENSE.md", 9), link("CHANGELOG.md", 8), link("guide.md", 1)}},
		{Name: rank.Optional, Links: []rank.Link{link("guide.md", 5), link("extra.md", 0)}},
	}}
	var full, ctx bytes.Buffer
	dropped, err := render.Full(t.Context(), &full, files, index, render.Pack{Bytes: 7000})
	if err != nil || !slices.Equal(dropped, []string{"LICENSE.md", "CHANGELOG.md"}) {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	_, err = render.Ctx(t.Context(), &ctx, files, index, render.Format2, render.Pack{})
	must(t, err)
	if n := strings.Count(full.String(), "## guide.md") + strings.Count(ctx.String(), `title="guide.md"`); n != 2 {
		t.Errorf("guide.md is there %d times in two files", n)
	}
}
