package sanitize

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
)

// Inline escapes what would begin a link, HTML, an escape or an unclosed code span in a line from [Liner]. Code spans
// and emphasis stay as the author wrote them.
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

// LinkTitle returns text for between the brackets of a link. Brackets become parentheses, because parsers without
// escapes stop at the first one. A backtick is escaped, because it could pair with one in the note and hide the end
// of the link.
func LinkTitle(s string) string { return escapeTitle.Replace(Line(s)) }

var escapeTitle = strings.NewReplacer(`[`, `(`, `]`, `)`, `\`, `\\`, "`", "\\`", `<`, `\<`)

// Paragraph is Inline that also escapes the beginning of a line that would become a heading, a list, a quotation, a
// fence or a rule.
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

// Heading is Inline that also keeps trailing marks, which Markdown would drop.
func Heading(s string) string {
	s = Inline(s)
	if strings.HasSuffix(s, "#") {
		return s[:len(s)-1] + `\#`
	}
	return s
}

// Code returns a code span that the text cannot close.
func Code(s string) string {
	s = cmp.Or(s, " ")
	fence := strings.Repeat("`", LongestRun([]byte(s))+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// LongestRun returns the length of the longest run of backticks.
func LongestRun(text []byte) int {
	longest := 0
	for {
		i := bytes.IndexByte(text, '`')
		if i < 0 {
			return longest
		}
		text = text[i:]
		rest := bytes.TrimLeft(text, "`")
		longest = max(longest, len(text)-len(rest))
		text = rest
	}
}
