package render

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// linkURL percent-encodes characters that must not occur in the destination of a Markdown link. A text that is
// neither an http or https URL nor a relative one becomes a relative path of the same characters.
func linkURL(s string) string {
	encoded := encodeURL(s)
	u, err := url.Parse(encoded)
	if s != "" && (err != nil || u.Scheme != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "")) {
		return "./" + strings.ReplaceAll(encodeURL(strings.ReplaceAll(s, "%", "%25")), ":", "%3A")
	}
	return encoded
}

func encodeURL(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%' && !isEncoded(s[i:]), c <= ' ', c >= 0x7f, strings.IndexByte("()[]<>\"\\`{}|^*", c) >= 0:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEncoded(s string) bool {
	const hex = "0123456789abcdefABCDEF"
	return len(s) > 2 && strings.IndexByte(hex, s[1]) >= 0 && strings.IndexByte(hex, s[2]) >= 0
}

// sectionNames turns each name into one word that is also an XML name, unique without regard to case.
func sectionNames(names []string) []string {
	used := make(map[string]bool)
	list := make([]string, len(names))
	for i, name := range names {
		name = oneWord(name)
		list[i] = name
		for n := 2; used[strings.ToLower(list[i])]; n++ {
			list[i] = name + "-" + strconv.Itoa(n)
		}
		used[strings.ToLower(list[i])] = true
	}
	return list
}

func oneWord(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}), "-")
	switch {
	case name == "":
		return "Section"
	case !unicode.IsLetter(rune(name[0])) || strings.HasPrefix(strings.ToLower(name), "xml"):
		return "Section-" + name
	}
	return name
}
