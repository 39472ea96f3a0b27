package prose

import "strings"

// HasWords finds whole words; the last may have an ending.
func HasWords(text, words string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], words)
		if i < 0 {
			return false
		}
		i += at
		if !IsIdent(rune(ByteAt(text, i-1))) {
			end := i + len(words)
			rest := text[end:]
			if n := strings.IndexFunc(rest, func(r rune) bool { return !IsIdent(r) }); len(rest) == 0 || n >= 0 &&
				n <= 2 || n < 0 && len(rest) <= 2 {
				return true
			}
		}
		at = i + 1
	}
}

// IsIdent holds for what identifiers are made of.
func IsIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// ByteAt is a space outside of the text.
func ByteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}
