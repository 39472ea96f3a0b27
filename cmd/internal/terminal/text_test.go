package terminal

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"漢字", 4, "漢字"},
		{"漢字", 3, "漢…"},
		{"漢字漢", 4, "漢…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"abc", 0, ""},
		{"abc", 1, "…"},
		{"", 5, ""},
	} {
		got := fit(c.text, c.columns, "…")
		if got != c.want || Width(got) > c.columns {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.columns, got, c.want)
		}
	}
	if got := fit("abcdef", 2, "..."); got != "" {
		t.Errorf("dots that do not fit: %q", got)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1: "-1", -123456: "-123,456",
	} {
		if got := words.Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0 s", 0: "0.0 s", 59999 * time.Millisecond: "59.9 s", 61 * time.Second: "1m 01s",
		time.Hour + 2*time.Minute: "1h 02m",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestColorsPassesNoOtherEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain ä\n\tb\r":                "plain ä\n\tb\r",
		"\x1b[1;31mred\x1b[0m":          "\x1b[1;31mred\x1b[0m",
		"\x1b[38:2::1:2:3mx":            "\x1b[38:2::1:2:3mx",
		"a\x1b[2Jb\x1b[?1049hc\x1b[>4m": "abc",
		"a\x1b]0;title\ab":              "ab",
		"a\x1b]8;;http://x\x1b\\b":      "ab",
		"a\x1bPq#0\x1b\\b\x1b7c\x1b(0d": "abcd",
		"a\u009b31mb\a\x00":             "a31mb",
	} {
		for size := range len(text) {
			var out strings.Builder
			c := &colors{To: &out}
			for rest := text; rest != ""; {
				n := min(size+1, len(rest))
				if _, err := c.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if out.String() != want {
				t.Fatalf("%q in pieces of %d is %q, not %q", text, size+1, out.String(), want)
			}
		}
	}
}

// All output of commands passes the gate, in whatever pieces; a sequence without an end takes nothing of the next piece.
func TestGate(t *testing.T) {
	var out strings.Builder
	g := gate{to: &out}
	for _, piece := range []string{"a\x1b]0;x", "b\u202ec\u061c", "\x1b[31mé\x1b[0m", "\xe2", "\x80\x94\x1bc\u009b"} {
		if n, err := g.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	g.ascii = true
	io.WriteString(g, "é… → ✓")
	if want := "abc\x1b[31mé\x1b[0m—é... -> +"; out.String() != want {
		t.Errorf("the terminal is told %q, not %q", out.String(), want)
	}
}

// Below a program's output, own lines begin with the line, whatever the program leaves behind.
func TestOwnLinesBeginWithALine(t *testing.T) {
	for output, want := range map[string]string{
		"half": "half\nown\n", "whole\n": "whole\nown\n", "": "own\n", "blue\n\x1b[0m": "blue\n\x1b[0mown\n",
		"\x1b[34mblue": "\x1b[34mblue\nown\n", "10 %\r": "10 %\r\nown\n", "\n" + strings.Repeat("é", 100): "\n" + strings.Repeat("é", 100) + "\nown\n",
	} {
		var out strings.Builder
		g := gate{&out, new(atomic.Bool), false}
		io.WriteString(Shown(g), output)
		for range 2 {
			fresh(g)
		}
		io.WriteString(g, "own\n")
		if out.String() != want {
			t.Errorf("%q shows %q, not %q", output, out.String(), want)
		}
	}
}

// A reader that takes every line break of Unicode for the end of a line gets each value as one line.
func TestJSONLinesAreLines(t *testing.T) {
	var out strings.Builder
	if err := JSONLines(&out).Encode("a\u2028b\u0085c"); err != nil || out.String() != "\"a\\u2028b\\u0085c\"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
