package decode

import (
	"unicode/utf16"
	"unicode/utf8"
)

// UTF8 turns bytes into valid UTF-8. A rune that two pieces share comes with the second; each byte outside a rune
// becomes U+FFFD. The zero value is ready for use.
type UTF8 struct {
	units units
}

// Push returns the text of the piece and of what was held back.
func (u *UTF8) Push(p []byte) string {
	if u.units.idle() && utf8.Valid(p) {
		return string(p)
	}
	return string(appendText(&u.units, nil, p))
}

// Close returns U+FFFD for each byte still held back.
func (u *UTF8) Close() string { return string(u.units.flush(nil)) }

// units joins UTF-16 code units and bytes of UTF-8 to runes. At most one of high and held waits for the rest of its
// rune.
type units struct {
	high rune                  // a high surrogate, 0 for none
	held [utf8.UTFMax - 1]byte // the first n bytes of a rune
	n    int
}

func (u *units) idle() bool { return u.n == 0 && u.high == 0 }

// flush gives up waiting.
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

// appendText adds bytes to out, except those at the end that may begin a rune.
func appendText[T string | []byte](u *units, out []byte, p T) []byte {
	if len(p) == 0 {
		return out
	}
	if u.high != 0 {
		out = u.flush(out)
	}
	for u.n > 0 && len(p) > 0 {
		out = u.continued(out, p[0])
		p = p[1:]
	}
	for start := 0; start < len(p); {
		size, state := next(p[start:])
		switch state {
		case whole:
			out = append(out, p[start:start+size]...)
		case broken:
			out = utf8.AppendRune(out, utf8.RuneError)
		case begun:
			u.n = copy(u.held[:], p[start:])
		}
		start += size
	}
	return out
}

type runeState int

const (
	whole runeState = iota
	broken
	begun // all that is left may be the beginning of a rune
)

// next examines the beginning of p: a run of valid text, one invalid byte, or the rest.
func next[T string | []byte](p T) (size int, state runeState) {
	for size < len(p) {
		if p[size] < utf8.RuneSelf {
			size++
			continue
		}
		var b [utf8.UTFMax]byte
		head := b[:copy(b[:], p[size:])]
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			break
		}
		size += n
	}
	if size > 0 {
		return size, whole
	}
	var b [utf8.UTFMax]byte
	if !utf8.FullRune(b[:copy(b[:], p)]) {
		return len(p), begun
	}
	return 1, broken
}

// continued adds one byte to the beginning of a rune.
func (u *units) continued(out []byte, b byte) []byte {
	var head [utf8.UTFMax]byte
	n := copy(head[:], u.held[:u.n])
	head[n] = b
	u.n = 0
	p := head[:n+1]
	if !utf8.FullRune(p) {
		u.n = copy(u.held[:], p)
		return out
	}
	for len(p) > 0 {
		if !utf8.FullRune(p) {
			u.n = copy(u.held[:], p)
			return out
		}
		r, size := utf8.DecodeRune(p)
		out = utf8.AppendRune(out, r)
		p = p[size:]
	}
	return out
}
