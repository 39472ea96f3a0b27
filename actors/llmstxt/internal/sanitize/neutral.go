package sanitize

import (
	"bytes"
	"unicode/utf8"
)

// neutralize returns text that controls no terminal and hides nothing: valid UTF-8, LF line ends, no byte order mark.
// Control and bidirectional characters, and those that XML forbids, become U+FFFD; invisible ones are removed. Text
// that needs no change is returned as it is.
func neutralize(s []byte) []byte {
	s = bytes.TrimPrefix(s, []byte("\uFEFF"))
	from := suspect(s, 0)
	if from == len(s) {
		return s
	}
	var b []byte
	done := 0
	for i := from; i < len(s); i = suspect(s, i) {
		r, size := utf8.DecodeRune(s[i:])
		if keep, instead := neutral(s, i, r, size); !keep {
			b = append(append(b, s[done:i]...), instead...)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return s
	}
	return append(b, s[done:]...)
}

// suspect returns the index of the first byte from i on that is not plain ASCII.
func suspect(s []byte, i int) int {
	for ; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			break
		}
	}
	return i
}

// neutral reports whether the character at i stays. If not, instead replaces it.
func neutral(s []byte, i int, r rune, size int) (keep bool, instead string) {
	switch {
	case r == '\r':
		if i+1 < len(s) && s[i+1] == '\n' {
			return false, ""
		}
		return false, "\n"
	case r == 0x2028 || r == 0x2029:
		return false, "\n"
	case r == 0x200C || r == 0x200D:
		return joins(s, i, size), ""
	case isInvisible(r):
		return false, ""
	case r == utf8.RuneError && size == 1, isControl(r):
		return false, "\uFFFD"
	}
	return true, ""
}

// joins reports whether a joiner belongs to a script or an emoji that needs it, rather than being hidden between
// Latin letters.
func joins(s []byte, i, size int) bool {
	before, _ := utf8.DecodeLastRune(s[:i])
	after, _ := utf8.DecodeRune(s[i+size:])
	return before >= 0x300 && after >= 0x300 && before != utf8.RuneError && after != utf8.RuneError
}

// isControl reports whether a character controls a terminal or the order of text, or is not a character at all.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x061C || r == 0x200E || r == 0x200F ||
		r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x206F || r >= 0xFFF9 && r <= 0xFFFB ||
		r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}

// isInvisible reports whether a character has no width and can carry text that only a model sees.
func isInvisible(r rune) bool {
	return r == 0xAD || r == 0x034F || r == 0x180E || r == 0x200B || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF ||
		r >= 0xE0000 && r <= 0xE0FFF
}

// CutLines cuts a text after a whole line or, within a single long line, after a whole character.
func CutLines(s []byte, room int) []byte {
	if len(s) <= room {
		return s
	}
	cut := s[:max(room, 0)]
	if i := bytes.LastIndexByte(cut, '\n'); i > 0 {
		return cut[:i+1]
	}
	for len(cut) > 0 && !utf8.RuneStart(s[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	return cut
}
