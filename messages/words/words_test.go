package words_test

import (
	"testing"

	"github.com/seed889630bf/lastword/messages/words"
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
	if got := words.OneLine("bad\r\n\x1b[2J\u202e\xff end\n"); got != "bad   [2J  end" {
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
