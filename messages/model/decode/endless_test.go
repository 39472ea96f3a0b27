package decode_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages/model/decode"
	"pgregory.net/rapid"
)

// A circle of up to 64 tokens is found after 4,096, and no sooner; what is counted does not depend on the pieces.
func TestEndless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		circle := rapid.SliceOfN(rapid.StringMatching(`[ \n]{1,2}[a-zä-ü]{1,6}`), 1, 64).Draw(t, "circle")
		before := rapid.StringMatching(`[A-Z. ]{0,50}`).Draw(t, "before")
		words := rapid.SampledFrom([]int{300, 1000, 2000, 4096 + 3*64}).Draw(t, "words") // most are too few
		endless := words > 4096
		text := before + strings.Repeat(strings.Join(circle, ""), words/len(circle)+1)
		var whole, pieces decode.Endless
		tokens, repeats := whole.Push(text)
		n, again, at := 0, false, 0
		size := rapid.IntRange(1, 20).Draw(t, "size")
		for from := 0; from < len(text); from += size {
			piece, now := text[from:min(from+size, len(text))], false
			if n, now = pieces.Push(piece); now && !again {
				again, at = true, n
			}
		}
		if repeats != endless || again != endless || n != tokens || endless && at < 4096 {
			t.Fatalf("whole: %t, %d tokens; in pieces: %t after %d of %d", repeats, tokens, again, at, n)
		}
	})
	var e decode.Endless
	for i := range 20000 {
		if _, repeats := e.Push(" line " + string(rune('a'+i%23)) + string(rune('a'+i/23%26)) + string(rune('a'+i/23/26%26))); repeats {
			t.Fatal("text that only resembles itself is no circle")
		}
	}
}
