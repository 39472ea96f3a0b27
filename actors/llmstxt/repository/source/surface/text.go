package surface

import "strings"

// IsWord reports whether the byte may be part of an identifier, including those in other scripts.
func IsWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}

// constantPath returns the path at the beginning of s whose first name has a capital, such as Foo::Bar. between has
// the bytes between names.
func constantPath(s, between string) string {
	n := 0
	for n < len(s) && (IsWord(s[n]) || strings.IndexByte(between, s[n]) >= 0) {
		n++
	}
	first := strings.TrimLeft(s[:n], between)
	if first == "" || first[0] < 'A' || first[0] > 'Z' && first[0] < 0x80 {
		return ""
	}
	return s[:n]
}
