package terminal

import (
	"strings"
	"testing"
)

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
