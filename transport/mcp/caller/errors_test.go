package caller

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClippedTextEndsWithACharacter(t *testing.T) {
	for _, text := range []string{strings.Repeat("€", 100), "a" + strings.Repeat("€", 100), strings.Repeat("x", 121)} {
		got, ok := strings.CutSuffix(Clip(text), "…")
		if !ok || !utf8.ValidString(got) || !strings.HasPrefix(text, got) || len(got) > 120 || len(got) < 118 {
			t.Errorf("%q", got)
		}
	}
	if text := strings.Repeat("x", 120); Clip(text) != text {
		t.Error("what fits is clipped")
	}
}
