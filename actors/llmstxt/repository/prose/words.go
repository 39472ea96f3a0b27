package prose

import "strings"

// HasWords reports whether the text contains the whole words. The last one may have an ending.
func HasWords(text, words string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		from += i
		rest := text[from+len(words):]
		ending := len(rest) - len(strings.TrimLeftFunc(rest, IsIdent))
		if !IsIdent(rune(ByteAt(text, from-1))) && ending <= 2 {
			return true
		}
	}
}

// IsIdent reports whether a character may be part of an identifier.
func IsIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// ByteAt returns the byte at i; outside of the text it returns a space.
func ByteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}
