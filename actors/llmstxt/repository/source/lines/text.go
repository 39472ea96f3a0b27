package lines

import (
	"iter"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// identifier returns the identifier at the beginning of s, or "".
func identifier(s string) string {
	i := 0
	for i < len(s) && surface.IsWord(s[i]) {
		i++
	}
	if i == 0 || '0' <= s[0] && s[0] <= '9' {
		return ""
	}
	return s[:i]
}

// indentation returns the column of the first character that is not blank, and the text from there on.
func indentation(line string) (column int, rest string) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			column++
		case '\t':
			column += 8 - column%8
		case '\f':
			column = 0
		default:
			return column, line[i:]
		}
	}
	return column, ""
}

// joined writes a declaration that spans several lines on one line.
func joined(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, pair := range [][2]string{{"( ", "("}, {", )", ")"}, {" )", ")"}, {"[ ", "["}, {", ]", "]"}, {" ]", "]"}} {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

// isConstantName reports whether the name has a capital and no small letter.
func isConstantName(name string) bool {
	return strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// qualify joins a scope and a name; an empty scope is left out.
func qualify(scope, separator, name string) string {
	if scope == "" || name == "" {
		return name
	}
	return scope + separator + name
}

// unquoted yields the bytes of s outside of quotations, with their indexes. A backslash escapes in a quotation.
func unquoted(s, quotes string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		quote := byte(0)
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case quote != 0 && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case strings.IndexByte(quotes, c) >= 0:
				quote = c
			case !yield(i, c):
				return
			}
		}
	}
}
