package chatui

import (
	_ "embed"
	"strings"
	"testing"

	phrases "github.com/seed889630bf/lastword/internal/words"
)

//go:embed testdata/sample.md
var sample string

// sampleShown is the sample in 40 columns.
//
//go:embed testdata/sample.txt
var sampleShown string

func shown(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, p := range l {
			b.WriteString(p.text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	got := shown(markdown(clean(sample), 40))
	if got != sampleShown {
		t.Errorf("the text is set as\n%s", got)
	}
	for _, columns := range []int{1, 7, 20, 37, 80} {
		for _, l := range markdown(clean(sample), columns) {
			if n := l.width(); n > columns && columns >= 20 {
				t.Errorf("%d columns for %q at %d", n, shown([]line{l}), columns)
			}
		}
	}
}

// The looks are ended in each row, and without colours bold and faint stay.
func TestPaint(t *testing.T) {
	l := markdown("a **b** `c`", 80)
	if got := l[0].paint(true); got != "a \x1b[1mb\x1b[0m \x1b[36mc\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := l[0].paint(false); got != "a \x1b[1mb\x1b[0m c" {
		t.Errorf("%q", got)
	}
}

// Nothing in an answer steers the terminal, not even what only Markdown makes a control of.
func TestMarkdownHasNoControls(t *testing.T) {
	for _, source := range []string{"a\x1b[2Jb", "&#27;[2J", "&#x1b;[2J", "[a](<&#27;x>)", "`\x1b[2J`", "| a\x07 |\n|--|\n", "\u202eabc"} {
		for _, l := range markdown(clean(source), 80) {
			for _, p := range l {
				if p.text != phrases.WithoutControls(p.text) || strings.ContainsAny(p.text, "\t\n") {
					t.Errorf("%q gives %q", source, p.text)
				}
			}
		}
	}
}

// Blocks that have settled are never taken back: whatever comes, they render as they do at the end.
func TestSettled(t *testing.T) {
	for _, source := range []string{sample, "```\na\n\nb\n```\nc\n\nd", "- a\n\n  ```\n  b\n\n- c\n\nd\n", "a\n\n    b\n\nc\n",
		"~~~\n```\n\n~~~\n\nx\n\n", "a\n\n```go `x`\n\nb\n", "````\n```\n\n````\n\nb\n"} {
		source = clean(source)
		done := 0
		var printed []string
		for i := range len(source) + 1 {
			if n := settled(source[done:i]); n > 0 {
				printed = append(printed, strings.TrimRight(shown(markdown(source[done:done+n], 60)), "\n"))
				done += n
			}
		}
		printed = append(printed, strings.TrimRight(shown(markdown(source[done:], 60)), "\n"))
		got, want := strings.TrimSpace(strings.Join(printed, "\n\n")), strings.TrimSpace(shown(markdown(source, 60)))
		if got != want {
			t.Errorf("%q comes as\n%s\nand not as\n%s", source, got, want)
		}
	}
}
