package lines

import (
	"iter"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// identifier is the identifier that s begins with, "" if it does not begin with one.
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

// indentation is the column of the first character that is no blank, and the text from there on.
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

// joined is a declaration that went over several lines as one would write it on one.
func joined(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, pair := range [][2]string{{"( ", "("}, {", )", ")"}, {" )", ")"}, {"[ ", "["}, {", ]", "]"}, {" ]", "]"}} {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

// isConstantName tells the names of constants: at least one capital, no small letter.
func isConstantName(name string) bool {
	return strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// qualify joins names; an empty scope is none.
func qualify(scope, separator, name string) string {
	if scope == "" || name == "" {
		return name
	}
	return scope + separator + name
}

// unquoted gives the bytes of s outside of quotations, with their indexes. A backslash in a quotation escapes.
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
