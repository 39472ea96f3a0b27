package words_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/words"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text, want string
		most       int
	}{{"four", "four", 4}, {"fives", "five…", 4}, {"né", "n…", 2}, {"é", "…", 1}, {"", "", 0}} {
		if got := words.Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestVisible(t *testing.T) {
	const text = "{\"a\": \"b\u202e\u200b\u0085\U000E0041\u3164 c\"}\n"
	if got := words.Visible(text); got != "{\"a\": \"b"+`\u202e\u200b\u0085\udb40\udc41\u3164`+" c\"}\n" {
		t.Errorf("%q", got)
	}
}

func TestOneLine(t *testing.T) {
	if got := words.OneLine("bad\r\n\x1b[2J\u202e\xff end\n"); got != "bad    end" {
		t.Errorf("%q", got)
	}
}

// People count: 2 comes before 10, also in the middle of a name.
func TestKeys(t *testing.T) {
	of := map[string]bool{}
	want := []string{"a", "a2", "a10", "b[0]", "b[1]#9", "b[1]#10", "b[2]", "b[10]", "b[11]"}
	for _, name := range want {
		of[name] = true
	}
	if got := words.Keys(maps.Keys(of)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"main", "mian", 2}, {"same", "same", 0}} {
		if got := words.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got := words.Printable("a\x1b[31mb\tc\nd\u202ee"); got != "ab\tc de" {
		t.Errorf("printable text %q", got)
	}
}

// Of an escape sequence nothing is left, and of a text no word is lost.
func TestEscapes(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m boom\x1b[K":         "red boom",
		"\x1b[38:2::255:0:0mred\u009b0m":          "red",
		"\x1b(B\x1b[m\x1b[?25hshown\x1b7":         "shown",
		"\x1b]0;title\a text \x1b]8;;\x1b\\ link": "title text ; link",
		"cut \x1b[1;3":                            "cut [1;3",
		"no[31m escape ]0;":                       "no[31m escape ]0;",
	} {
		for name, clean := range map[string]func(string) string{"Printable": words.Printable, "WithoutControls": words.WithoutControls, "OneLine": words.OneLine} {
			if got := strings.Join(strings.Fields(clean(text)), " "); got != want {
				t.Errorf("%s(%q) is %q, want %q", name, text, got, want)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 4_200_000: "4.2 MB"} {
		if got := words.Size(bytes); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
}

func TestPrintableIsVisible(t *testing.T) {
	const hidden = "\u200b\u200e\u202e\u2060\u2066\ufeff\u00ad\u3164\u115f\u034f\ufe0f\U000e0041\U000e0100\u0085\u009b"
	if got := words.Printable("a" + hidden + "\tb"); got != "a\tb" {
		t.Errorf("%q is left of what nobody sees", got)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 1234567: "1,234,567 files"} {
		if got := words.Count(n, "file"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
