package python

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
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
	from := 0
	for i, end := range pyPieces(text) {
		if text[i] == '#' {
			b.WriteString(text[from:i])
			from = end
		} else if strings.HasPrefix(text[i:], "\\\n") {
			b.WriteString(text[from:i])
			from = i + 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// isPyString tells a line that is a string and nothing else, or begins so.
func isPyString(text string) bool {
	i := 0
	for i < len(text) && i < 3 && surface.IsWord(text[i]) {
		i++
	}
	if i == len(text) || text[i] != '"' && text[i] != '\'' || pyPrefix(text, i) != strings.ToLower(text[:i]) {
		return false
	}
	end := pyStringEnd(text, i, "", 0)
	rest := strings.TrimLeft(text[min(end, len(text)):], " \t;")
	return rest == "" || rest[0] == '#' || rest[0] == '"' || rest[0] == '\''
}

// pyDoc is the value of the string literal that text begins with; bytes and formatted strings document nothing.
func pyDoc(text string) string {
	i := strings.IndexAny(text, `"'`)
	prefix := pyPrefix(text, i)
	if strings.ContainsAny(prefix, "bft") {
		return ""
	}
	body := text[i:min(pyStringEnd(text, i, "", 0), len(text))]
	quote := body[:1]
	if strings.HasPrefix(body, strings.Repeat(quote, 3)) {
		quote = body[:3]
	}
	body = strings.TrimPrefix(body, quote)
	body = strings.TrimSuffix(body, quote)
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
