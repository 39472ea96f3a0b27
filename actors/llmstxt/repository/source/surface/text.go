package surface

import (
	"iter"
	"strings"
)

// Modules nested deeper than this hold nothing that is read.
const Deepest = 50

// IsWord tells the bytes of identifiers; those of other scripts count.
func IsWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}

// Identifier is the identifier that s begins with, "" if it does not begin with one.
func Identifier(s string) string {
	i := 0
	for i < len(s) && IsWord(s[i]) {
		i++
	}
	if i == 0 || '0' <= s[0] && s[0] <= '9' {
		return ""
	}
	return s[:i]
}

// MethodName is an identifier that may end in ? or !.
func MethodName(s string) string {
	name := Identifier(s)
	if rest := s[len(name):]; name != "" && rest != "" && (rest[0] == '?' || rest[0] == '!') {
		return s[:len(name)+1]
	}
	return name
}

// ConstantPath is the path that s begins with whose first name has a capital, such as Foo::Bar. Between has the bytes
// that stand between names.
func ConstantPath(s, between string) string {
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

// AfterKeyword is what follows a keyword at the start of s.
func AfterKeyword(s, keyword string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(s, keyword)
	if !ok || rest != "" && IsWord(rest[0]) {
		return "", false
	}
	return strings.TrimLeft(rest, " \t"), true
}

// Indentation is the column of the first character that is no blank, and the text from there on.
func Indentation(line string) (column int, rest string) {
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

// Joined is a declaration that went over several lines as one would write it on one.
func Joined(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, pair := range [][2]string{{"( ", "("}, {", )", ")"}, {" )", ")"}, {"[ ", "["}, {", ]", "]"}, {" ]", "]"}} {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

// IsConstantName tells the names of constants: at least one capital, no small letter.
func IsConstantName(name string) bool {
	return strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// Qualify joins names; an empty scope is none.
func Qualify(scope, separator, name string) string {
	if scope == "" || name == "" {
		return name
	}
	return scope + separator + name
}

// Unquoted gives the bytes of s outside of quotations, with their indexes. A backslash in a quotation escapes.
func Unquoted(s, quotes string) iter.Seq2[int, byte] {
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

// Closing is the index after the bracket that closes the one s begins with, -1 if there is none.
func Closing(s string) int {
	depth := 0
	for i, c := range Unquoted(s, `"'`) {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// ReplaceEach gives what follows each mark to read, with what stands between it and the one before. Read tells what
// is shown in place of the mark and its markup, and what comes after.
func ReplaceEach(text, mark string, read func(before, rest string) (shown, after string)) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, mark)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		var shown string
		shown, text = read(before, rest)
		b.WriteString(shown)
	}
}
