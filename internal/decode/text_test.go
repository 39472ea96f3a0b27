package decode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/decode"
)

// cuts divides a text: each number is how long the next piece is, over and over; none is byte by byte.
func cuts(s string, lengths []byte) []string {
	var pieces []string
	for i := 0; len(s) > 0; i++ {
		n := 1
		if len(lengths) > 0 {
			n = int(lengths[i%len(lengths)])%9 + 1
		}
		n = min(n, len(s))
		pieces = append(pieces, s[:n])
		s = s[n:]
	}
	return pieces
}

// Contract, section 7: "UTF-8 across chunks", "equal under any chunking". The language's own conversion is the
// measure.
func FuzzUTF8(f *testing.F) {
	f.Add([]byte("a é € 🎉"), []byte{0})
	f.Add([]byte("\xf0\x9f\x8e\xc3\xa9\xe2\x82a\xff\xf0\x9f"), []byte{1, 2})
	f.Add([]byte("\xe0\x80\xed\xa0\x80\xf4\x90\xf0\x9f\x8e"), []byte{0})
	f.Fuzz(func(t *testing.T, bytes, lengths []byte) {
		in := strings.ReplaceAll(string(bytes), `\`, "") // no escapes
		want := string([]rune(in))
		for _, pieces := range [][]string{{in}, cuts(in, nil), cuts(in, lengths)} {
			if got := unescape(t, pieces...); got != want {
				t.Errorf("%q: %q, want %q", pieces, got, want)
			}
		}
	})
}

func TestUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		atoms := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "€", "🎉", "\x80", "\xe2\x82", "\xf0\x9f", "\xff", "\xed\xa0"}))
		in := strings.Join(atoms.Draw(t, "in"), "")
		got := unescape(t, cuts(in, rapid.SliceOf(rapid.Byte()).Draw(t, "lengths"))...)
		if want := string([]rune(in)); got != want {
			t.Fatalf("%q: %q, want %q", in, got, want)
		}
	})
}

// A rune comes with its last byte and not later.
func TestUTF8AsItComes(t *testing.T) {
	var u decode.Unescape
	for i, want := range []string{"", "", "", "🎉"} {
		if got := u.Push([]byte{'"', "🎉"[i], '"'}); got != want {
			t.Errorf("byte %d gives %q, want %q", i, got, want)
		}
	}
}

func unescape(t rapid.TB, insides ...string) string {
	var u decode.Unescape
	var b strings.Builder
	for _, inside := range insides {
		text := u.Push([]byte(`"` + inside + `"`))
		if !utf8.ValidString(text) {
			t.Errorf("%q gives %q", insides, text)
		}
		b.WriteString(text)
	}
	return b.String() + u.Close()
}

func TestUnescape(t *testing.T) {
	for _, row := range []struct {
		want    string
		insides []string
	}{
		{"🎉", []string{`\ud83c\udf89`}},
		{"🎉", []string{`\ud83c`, `\udf89`}},
		{"🎉a", []string{`\uD83C`, ``, `\uDf89a`}},
		{"\ufffda", []string{`\ud83c`, `a`}},
		{"\ufffd", []string{`\ud83c`}},
		{"\ufffd\n", []string{`\ud83c`, `\n`}},
		{"\ufffd🎉", []string{`\ud83c`, `\ud83c`, `\udf89`}},
		{"\ufffda", []string{`\udf89`, `a`}},
		{"é", []string{"\xc3", "\xa9"}},
		{"\ufffdé", []string{"\xc3", `\u00e9`}},
		{`"\/` + "\b\f\n\r\t", []string{`\"\\\/\b\f\n\r\t`}},
	} {
		if got := unescape(t, row.insides...); got != row.want {
			t.Errorf("%q: %q, want %q", row.insides, got, row.want)
		}
	}
	var u decode.Unescape
	for _, raw := range []string{"", "null", "1", `{"a":1}`, `["a"]`, `"`} {
		if got := u.Push([]byte(raw)); got != "" {
			t.Errorf("%s gives %q", raw, got)
		}
	}
}

// encoding/json is the measure for the whole; a literal may end anywhere, even in an escape.
func FuzzUnescape(f *testing.F) {
	f.Add(`a \ud83c\udf89 \u00e9`, []byte{0})
	f.Add(`\ud83c\ud83c\udf89\udf89x\ud83c`, []byte{5})
	f.Add("\xc3\xa9\xf0\x9f\\n\xe2\x82", []byte{2, 3})
	f.Fuzz(func(t *testing.T, inside string, lengths []byte) {
		var want string
		if json.Unmarshal([]byte(`"`+inside+`"`), &want) != nil {
			return
		}
		for _, pieces := range [][]string{{inside}, cuts(inside, nil), cuts(inside, lengths)} {
			if got := unescape(t, pieces...); got != want {
				t.Errorf("%q: %q, want %q", pieces, got, want)
			}
		}
	})
}

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
