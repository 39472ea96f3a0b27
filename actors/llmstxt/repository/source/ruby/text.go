package ruby

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// rubyCode is a line without its comment.
func rubyCode(line string) string {
	for i, c := range surface.Unquoted(line, "\"'`") {
		if c == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimRight(line, " \t")
}

var operator = regexp.MustCompile("^(?:\\[\\]=?|<=>|={2,3}|[=!]~|!=|\\*\\*|[-+]@|<<|>>|[<>]=|[-+*/%<>!&|^~`])")

// rubyMethod is the method name at the start of s: an identifier that may end in ?, ! or =, or an operator.
func rubyMethod(s string) string {
	name := surface.MethodName(s)
	if name == "" {
		return operator.FindString(s)
	}
	rest := s[len(name):]
	if len(rest) > 1 && rest[0] == '=' && strings.IndexByte("=~>", rest[1]) < 0 || rest == "=" {
		return s[:len(name)+1]
	}
	return name
}

// rubyName is a symbol or string as a name: ":foo" or "'foo'".
func rubyName(s string) string {
	return rubyMethod(strings.Trim(strings.TrimLeft(s, ":"), `"'`))
}

// endsHere tells definitions that end on the line they begin on.
func endsHere(code string) bool {
	return strings.HasSuffix(code, "; end") || strings.HasSuffix(code, ";end") || strings.HasSuffix(code, " end")
}

// arguments is the argument list that s begins with, on one line, and whether an "=" makes the rest of the line the
// method's body. It takes the lines that the list goes on over.
func (r *rubyFile) arguments(s string) (list string, endless bool) {
	begin := strings.TrimLeft(s, " ")
	if !strings.HasPrefix(begin, "(") {
		if rest, ok := strings.CutPrefix(begin, "= "); ok {
			return "", rest != ""
		}
		list, _, _ = strings.Cut(s, ";")
		return strings.TrimRight(list, " "), false
	}
	list, after := r.List(begin, func(line string) (string, bool) {
		_, text := surface.Indentation(line)
		return rubyCode(text), !strings.HasPrefix(text, "def ") && text != "end"
	})
	return list, list != "" && strings.HasPrefix(strings.TrimLeft(after, " "), "= ")
}

// isMagic tells comments for tools.
func isMagic(comment string) bool {
	comment = strings.TrimSpace(comment)
	return prose.StartsWithAny(comment, "frozen_string_literal:", "encoding:", "coding:", "-*-", "rubocop:", "typed:",
		"warn_indent:", ":markup:", "vim:")
}

var typewriter = regexp.MustCompile(`(^|\s)\+([^+\s]+)\+`)

// rdoc writes the typewriter words of RDoc, such as +name+, in backticks, and drops what TomDoc begins with.
func rdoc(s string) string {
	return typewriter.ReplaceAllString(strings.TrimPrefix(s, "Public: "), "$1`$2`")
}
