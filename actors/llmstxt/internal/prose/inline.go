package prose

import (
	"regexp"
	"strings"
	"unicode"
)

// Inline removes markup from running text: roles and double backticks of reStructuredText; {@code x} and {@link x} of
// Javadoc; {Name} of YARD; {label}[URL] and typewriter tags of RDoc; links of Markdown; and [Name] of Go, Rust and
// KDoc. Backticks stay.
func Inline(s string) string {
	if !strings.ContainsAny(s, "`{<[") {
		return s
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "`{<[")
		if i < 0 {
			break
		}
		before, text, rest := span(s[:i], s[i:])
		b.WriteString(before)
		b.WriteString(text)
		s = rest
	}
	b.WriteString(s)
	return b.String()
}

// span reads the markup at the beginning of s. before is the text in front of it, and loses what belongs to the
// markup.
func span(before, s string) (kept, text, rest string) {
	switch s[0] {
	case '`':
		return quoted(before, s)
	case '{':
		return braces(before, s)
	case '[':
		return brackets(before, s)
	}
	for _, tag := range []string{"<tt>", "<code>", "</tt>", "</code>"} {
		if rest, ok := strings.CutPrefix(s, tag); ok {
			return before, "`", rest
		}
	}
	return before, "<", s[1:]
}

// longestSpan bounds the length of markup, in bytes.
const longestSpan = 300

// quoted reads text in backticks, and the role before it. Without an end, the backticks stay as they are.
func quoted(before, s string) (kept, text, rest string) {
	if strings.HasPrefix(s, "```") {
		n := len(s) - len(strings.TrimLeft(s, "`"))
		return before, s[:n], s[n:]
	}
	if strings.HasPrefix(s, "``") {
		end := strings.Index(s[2:min(len(s), longestSpan)], "``")
		if end < 0 {
			return before, "``", s[2:]
		}
		return before, "`" + strings.TrimSpace(s[2:2+end]) + "`", s[2+end+2:]
	}
	end := strings.IndexByte(s[1:min(len(s), longestSpan)], '`')
	if end < 0 {
		return before, "`", s[1:]
	}
	text, rest = s[1:1+end], s[1+end+1:]
	kept = withoutRole(before)
	isRole := len(kept) < len(before)
	if label, target, ok := strings.Cut(text, " <"); ok && strings.HasSuffix(target, ">") {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "_"), "_")
		if !isRole || strings.Contains(label, " ") {
			return kept, label, rest
		}
		text = label
	}
	if isRole {
		text = strings.TrimLeft(text, "~!")
	}
	return kept, "`" + text + "`", rest
}

var role = regexp.MustCompile(`(?:^|[ \n\t("'\[,/])(:[a-z:_+-]+:)$`)

// withoutRole removes ":py:func:" from the end.
func withoutRole(s string) string {
	if match := role.FindStringSubmatchIndex(s); match != nil {
		return s[:match[2]]
	}
	return s
}

// braces reads {@tag text}, {Name label} or {label}[URL]. Other braces stay as they are.
func braces(before, s string) (kept, text, rest string) {
	end := strings.IndexByte(s[:min(len(s), longestSpan)], '}')
	if end < 0 {
		return before, "{", s[1:]
	}
	text, rest = s[1:end], s[end+1:]
	if after, ok := afterTarget(rest, "[]"); ok {
		return before, text, after
	}
	if tag, argument, ok := strings.Cut(text, " "); ok && strings.HasPrefix(tag, "@") {
		return before, linkedName(tag, strings.TrimSpace(argument)), rest
	}
	name, label, ok := strings.Cut(text, " ")
	isPath := name != "" && constantPath(name, ":#.?!") == name
	if isPath && (before == "" || strings.HasSuffix(before, " ")) {
		if ok {
			return before, label, rest
		}
		return before, "`" + name + "`", rest
	}
	return before, "{", s[1:]
}

// brackets reads a link, or the name of a symbol. Other brackets, such as an index, stay as they are.
func brackets(before, s string) (kept, text, rest string) {
	end := strings.IndexByte(s[:min(len(s), longestSpan)], ']')
	if end < 0 || before != "" && IsIdent(rune(before[len(before)-1])) {
		return before, "[", s[1:]
	}
	text, rest = s[1:end], s[end+1:]
	rest, isLink := afterTarget(rest, "()")
	if !isLink {
		rest, isLink = afterTarget(rest, "[]")
	}
	switch {
	case len(text) > 1 && text[0] == '`' && text[len(text)-1] == '`':
		return before, text, rest
	case isLink:
		return before, Inline(text), rest
	case isDocLink(text):
		return before, "`" + text + "`", rest
	}
	return before, "[", s[1:]
}

// afterTarget skips the target of a link at the beginning of s, between the two marks.
func afterTarget(s, marks string) (after string, ok bool) {
	if s == "" || s[0] != marks[0] {
		return s, false
	}
	end := strings.IndexByte(s[:min(len(s), longestSpan)], marks[1])
	if end < 0 {
		return s, false
	}
	return s[end+1:], true
}

// isDocLink distinguishes a name such as pkg.Name or Type::method from a word such as optional.
func isDocLink(name string) bool {
	isOther := func(r rune) bool { return !IsIdent(r) && !strings.ContainsRune(".*/:#()!", r) }
	return name != "" && (unicode.IsUpper(rune(name[0])) || strings.ContainsAny(name, ".:#(") || name[0] == '*') &&
		!strings.ContainsFunc(name, isOther)
}

// linkedName returns the text of {@tag argument}.
func linkedName(tag, argument string) string {
	if tag != "@link" && tag != "@linkplain" {
		return "`" + argument + "`"
	}
	name, label, ok := strings.Cut(argument, " ")
	if ok && !strings.HasSuffix(name, ",") {
		return label
	}
	return "`" + strings.TrimPrefix(strings.ReplaceAll(argument, "#", "."), ".") + "`"
}

// constantPath returns the path at the beginning of s whose first name has a capital, such as Foo::Bar. between has
// the bytes between names.
func constantPath(s, between string) string {
	n := 0
	for n < len(s) && (IsIdent(rune(s[n])) || strings.IndexByte(between, s[n]) >= 0) {
		n++
	}
	first := strings.TrimLeft(s[:n], between)
	if first == "" || first[0] < 'A' || first[0] > 'Z' && first[0] < 0x80 {
		return ""
	}
	return s[:n]
}
