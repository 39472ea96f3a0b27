package python

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/source/surface"
)

// pyHeader is the header of a definition on one line, without its colon, and what follows that.
func pyHeader(text string) (header, body string) {
	code := pyCode(text)
	depth := 0
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '"', '\'':
			i = pyStringEnd(code, i, pyPrefix(code, i), 0) - 1
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
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = pyStringEnd(text, i, pyPrefix(text, i), 0)
		case c == '#':
			b.WriteString(text[from:i])
			i = lineEnd(text, i)
			from = i
		case c == '\\' && strings.HasPrefix(text[i+1:], "\n"):
			b.WriteString(text[from:i])
			i++
			from = i
		default:
			i++
		}
	}
	b.WriteString(text[min(from, len(text)):])
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
	for i := 0; i < len(text); {
		switch text[i] {
		case '"', '\'':
			end := pyStringEnd(text, i, pyPrefix(text, i), 0)
			values = append(values, strings.Trim(text[i:min(end, len(text))], `"'`))
			i = end
		case '#':
			i = lineEnd(text, i)
		default:
			i++
		}
	}
	return values
}
