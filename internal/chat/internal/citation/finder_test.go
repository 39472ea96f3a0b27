package citation_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/chat/internal/citation"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// example is a text of the corpus, with what it cites.
type example struct {
	title    string
	names    []string
	numbered bool
	text     string
	marks    []citation.Mark
}

// corpus reads testdata/corpus.txt, in which ⟦source,source|mark⟧ stands for a mark.
func corpus(t testing.TB) (out []example) {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus.txt")
	fatal.IfError(t, err)
	for _, block := range strings.Split(string(data), "=== ")[1:] {
		title, rest, _ := strings.Cut(block, "\n")
		head, text, _ := strings.Cut(rest, "\n")
		kind, names, _ := strings.Cut(head, ":")
		e := example{title: title, numbered: kind == "numbered"}
		if names = strings.TrimSpace(names); names != "" {
			e.names = strings.Split(names, " | ")
		}
		for {
			before, after, found := strings.Cut(text, "⟦")
			e.text += before
			if !found {
				break
			}
			cited, after, _ := strings.Cut(after, "|")
			for name := range strings.SplitSeq(cited, ",") {
				i := slices.Index(e.names, name)
				if i < 0 {
					t.Fatalf("%s: there is no source %q", title, name)
				}
				e.marks = append(e.marks, citation.Mark{Source: i, Offset: len(e.text)})
			}
			mark, after, _ := strings.Cut(after, "⟧")
			e.text += mark
			text = after
		}
		out = append(out, e)
	}
	return out
}

// TestCorpus measures what the recogniser finds of what a reader would take for a citation. docs/design.md names the
// figures. A mark that it misses or invents is listed with -v.
func TestCorpus(t *testing.T) {
	texts, marks, right, wrong := 0, 0, 0, 0
	for _, e := range corpus(t) {
		texts++
		marks += len(e.marks)
		for _, m := range citation.Of(e.text, e.names, e.numbered) {
			if m.Source < 0 {
				continue // a name that nobody has read
			}
			if i := slices.Index(e.marks, m); i >= 0 {
				right++
				e.marks = slices.Delete(e.marks, i, i+1)
				continue
			}
			wrong++
			t.Logf("%s: %q is no citation of %s", e.title, e.text[m.Offset:][:min(12, len(e.text)-m.Offset)], e.names[m.Source])
		}
		for _, m := range e.marks {
			t.Logf("%s: %q cites %s", e.title, e.text[m.Offset:][:min(12, len(e.text)-m.Offset)], e.names[m.Source])
		}
	}
	got := fmt.Sprintf("%d texts, %d marks: %d found, %d invented: recall %.1f %%, precision %.1f %%", texts, marks, right, wrong,
		100*float64(right)/float64(marks), 100*float64(right)/float64(right+wrong))
	design, err := os.ReadFile("../../../../docs/design.md")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(design)), " "), got) {
		t.Errorf("docs/design.md has other figures than %s: %v", got, err)
	}
}

// Marks that name no source are found in the forms that the seed lists, and nothing is that is a link, a box, an index or
// code.
func TestStrangers(t *testing.T) {
	const text = "It rains [Weather.com], it pours {{CITE:met.no}} and more.[^1][^yr.no][^2][^s]\n\n[^s]: Storm.no, visited today\n" +
		"- [x] [link](u) ![image](u) a[i] `[code]` [text][ref] [1] [ref] [a.go, b.go]\n\n[ref]: https://x\n"
	var got []string
	for _, m := range citation.Of(text, []string{"a.go"}, true) {
		got = append(got, m.Name)
	}
	// [1] is the number of a.go
	if want := []string{"Weather.com", "met.no", "", "yr.no", "Storm.no", "", "a.go", "b.go"}; !slices.Equal(got, want) {
		t.Errorf("the text names %q", got)
	}
}

// FuzzFinder: no text crashes it, and marks are inside the text and in order of their ends.
func FuzzFinder(f *testing.F) {
	for _, e := range corpus(f) {
		f.Add(e.text, strings.Join(e.names, "|"), e.numbered)
	}
	f.Add("[[[[[[a]]]]]] [^a]: [^a][^a]:", "a", true)
	f.Fuzz(func(t *testing.T, text, names string, numbered bool) {
		list := strings.Split(names, "|")
		for _, m := range citation.Of(text, list, numbered) {
			if m.Source < -1 || (m.Name == "") == (m.Source < 0) || m.Source >= len(list) || m.Offset < 0 || m.Offset >= len(text) ||
				!strings.HasPrefix(text[m.Offset:], "[") && !strings.HasPrefix(text[m.Offset:], "{{") {
				t.Fatalf("%+v in %q", m, text)
			}
		}
	})
}
