package python

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// pyHeader is the header of a definition on one line, without its colon, and what follows that.
func pyHeader(text string) (header, body string) {
	code := pyCode(text)
	depth := 0
	for i := range pyPieces(code) {
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth <= 0 {
				return surface.Joined(code[:i]), strings.TrimLeft(code[i+1:], " \t")
			}
		}
	}
	return surface.Joined(code), ""
}

// pyCode is a logical line without comments and continuation marks.
func pyCode(text string) string {
	if !strings.ContainsAny(text, "#\\") {
		return text
	}
	var b strings.Builder
	for i, end := range pyPieces(text) {
		switch {
		case text[i] == '#':
		case strings.HasPrefix(text[i:], "\\\n"):
			b.WriteByte('\n')
		default:
			b.WriteString(text[i:end])
		}
	}
	return b.String()
}

// pyQuote finds where a string begins, its prefix included.
var pyQuote = regexp.MustCompile(`^(?i:[rbuft]{0,2})["']`)

// isPyString tells a line that is a string and nothing else, or begins so.
func isPyString(text string) bool {
	begin := pyQuote.FindString(text)
	if begin == "" {
		return false
	}
	rest := strings.TrimLeft(text[pyStringEnd(text, len(begin)-1):], " \t;")
	return rest == "" || rest[0] == '#' || rest[0] == '"' || rest[0] == '\''
}

// pyDoc is the value of the string literal that text begins with; bytes and formatted strings document nothing.
func pyDoc(text string) string {
	i := strings.IndexAny(text, `"'`)
	prefix := strings.ToLower(text[:i])
	if strings.ContainsAny(prefix, "bft") {
		return ""
	}
	body := text[i:pyStringEnd(text, i)]
	quote := body[:1]
	if strings.HasPrefix(body, strings.Repeat(quote, 3)) {
		quote = body[:3]
	}
	body = strings.TrimSuffix(strings.TrimPrefix(body, quote), quote)
	if strings.Contains(prefix, "r") || !strings.Contains(body, `\`) {
		return body
	}
	return strings.NewReplacer("\\\n", "", `\\`, `\`, `\n`, "\n", `\t`, " ", `\"`, `"`, `\'`, "'").Replace(body)
}

// pyStrings are the values of the string literals in a line.
func pyStrings(text string) []string {
	var values []string
	for i, end := range pyPieces(text) {
		if text[i] == '"' || text[i] == '\'' {
			values = append(values, strings.Trim(text[i:end], `"'`))
		}
	}
	return values
}
