package decode

import (
	"unicode/utf16"
	"unicode/utf8"
)

// units joins UTF-16 code units and bytes of UTF-8 into runes. At most one of high and held waits for the rest of its
// rune.
type units struct {
	high rune                  // a high surrogate, 0 for none
	held [utf8.UTFMax - 1]byte // the first n bytes of a rune
	n    int
}

func (u *units) idle() bool { return u.n == 0 && u.high == 0 }

// flush stops waiting, and emits U+FFFD for what is incomplete.
func (u *units) flush(out []byte) []byte {
	if u.high != 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	for range u.n {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	u.high, u.n = 0, 0
	return out
}

// unit adds the code unit of an escape \uXXXX.
func (u *units) unit(out []byte, r rune) []byte {
	if high := u.high; high != 0 {
		u.high = 0
		if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair)
		}
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	out = u.flush(out)
	if r >= 0xD800 && r < 0xDC00 {
		u.high = r
		return out
	}
	return utf8.AppendRune(out, r)
}

// appendText appends the bytes of p to out, except those at the end that may begin a rune.
func appendText[T string | []byte](u *units, out []byte, p T) []byte {
	if len(p) == 0 {
		return out
	}
	if u.high != 0 {
		out = u.flush(out)
	}
	start := len(out)
	out = append(append(out, u.held[:u.n]...), p...)
	end := len(out) - begun(out[start:])
	u.n = copy(u.held[:], out[end:])
	if out = out[:end]; utf8.Valid(out[start:]) {
		return out
	}
	text := string(out[start:])
	out = out[:start]
	for _, r := range text { // U+FFFD for each invalid byte
		out = utf8.AppendRune(out, r)
	}
	return out
}

// begun returns how many bytes at the end of p begin an incomplete rune.
func begun(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
