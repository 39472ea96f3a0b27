package render

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// cleanLine makes one line of visible text: terminal escapes, control, format (bidirectional, zero-width, tag) and
// private characters go, space collapses.
func cleanLine(s string) string {
	if isCleanASCII(s) {
		return s
	}
	if strings.ContainsRune(s, 0x1b) {
		escape := regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\-_])?")
		s = escape.ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !isVisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// isCleanASCII tells most lines, which need nothing.
func isCleanASCII(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return s == "" || last != ' '
}

// isVisible also refuses the code points that are no characters, and the variation selectors beyond the first
// sixteen: they show nothing and can carry text that only a model sees.
func isVisible(r rune) bool {
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) &&
		(r < 0xE0100 || r > 0xE01EF) && r&0xFFFE != 0xFFFE
}

// Inline escapes what would start a link, HTML, an escape or a code span without an end inside a line that [Liner]
// gave. Code spans and emphasis stay as the author wrote them.
func Inline(s string) string {
	var b strings.Builder
	for {
		before, _, found := strings.Cut(s, "`")
		b.WriteString(escapeInline.Replace(before))
		if !found {
			return b.String()
		}
		s = s[len(before):]
		n, closed := prose.Backticks(s)
		if closed {
			b.WriteString(s[:n])
		} else {
			b.WriteString(strings.Repeat("\\`", n))
		}
		s = s[n:]
	}
}

var escapeInline = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `<`, `\<`)

// LinkTitle gives text for between the brackets of a link. Brackets become parentheses, for parsers that know no
// escapes stop at the first one; a backtick could pair with one in the note and hide the link's end.
func LinkTitle(s string) string {
	return escapeTitle.Replace(cleanLine(s))
}

var escapeTitle = strings.NewReplacer(`[`, `(`, `]`, `)`, `\`, `\\`, "`", "\\`", `<`, `\<`)

// Paragraph escapes a line's start too, where it would become a heading, a list, a quotation, a fence or a rule.
func Paragraph(s string) string {
	s = Inline(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "":
		return s
	case strings.ContainsRune("#>-+*=~_|", rune(s[0])):
		return `\` + s
	case digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')'):
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// Heading keeps trailing marks, which Markdown would drop.
func Heading(s string) string {
	s = Inline(s)
	if strings.HasSuffix(s, "#") {
		return s[:len(s)-1] + `\#`
	}
	return s
}

// linkURL percent-encodes what may not stand in a Markdown link's destination. What is neither an http or https URL
// nor a relative one becomes a relative path of the same characters.
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

// sectionNames makes one word of each name that is an XML name as well, unique without regard to case.
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
