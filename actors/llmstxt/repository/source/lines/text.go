package lines

import (
	"html"
	"iter"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// match returns what a pattern and its groups match; nothing if the grammar has no such pattern.
func match(p *regexp.Regexp, s string) []string {
	if p == nil {
		return nil
	}
	return p.FindStringSubmatch(s)
}

// identifier returns the identifier at the beginning of s, or "".
func identifier(s string) string {
	if s == "" || '0' <= s[0] && s[0] <= '9' {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeftFunc(s, prose.IsIdent))]
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

// summary returns the first sentence of a comment, without the tags of Javadoc, Doxygen, XML and HTML. It skips text
// for tools and for developers.
func summary(doc string) string {
	if strings.ContainsAny(doc, `@\`) {
		var b strings.Builder
		for line := range strings.Lines(doc) {
			b.WriteString(tagged(line))
		}
		doc = commands.ReplaceAllString(b.String(), "")
	}
	if strings.ContainsAny(doc, "<&") {
		if _, rest, ok := strings.Cut(doc, "<summary>"); ok {
			doc, _, _ = strings.Cut(rest, "</summary>")
		}
		doc = references.ReplaceAllString(doc, "`$1`")
		doc = codeTags.ReplaceAllString(blockTags.ReplaceAllString(doc, "\n\n"), "`")
		doc = html.UnescapeString(inlineTags.ReplaceAllString(doc, ""))
	}
	doc = surface.Summary(typewriter.ReplaceAllString(doc, "$1`$2`"))
	low := strings.ToLower(doc[:min(len(doc), 40)])
	if prose.StartsWithAny(low, "eslint", "@ts-", "prettier", "istanbul", "todo", "fixme", "xxx", "hack", "nolint",
		"noinspection", "clang-format", "swiftlint", "#region", "<reference", "region ", "rubocop") ||
		!strings.ContainsFunc(doc, func(r rune) bool { return r >= 'A' }) {
		return ""
	}
	return doc
}

// tagged returns the text of "@brief text", and nothing for "@module name". Other tags end the text.
func tagged(line string) string {
	text := strings.TrimLeft(line, " \t")
	if text == "" || text[0] != '@' && text[0] != '\\' {
		return line
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	switch name {
	case "description", "desc", "summary", "classdesc", "fileoverview", "overview", "brief", "short", "details":
		return strings.TrimSpace(rest) + "\n"
	case "file", "module", "packageDocumentation", "export", "class", "constructor", "public", "name", "namespace",
		"license", "{", "}", "struct", "union", "enum", "def", "fn", "typedef", "var", "ingroup", "interface", "since":
		return "\n"
	}
	return "@" + text[1:]
}

var (
	commands   = regexp.MustCompile(`[\\@](?:ref|c|p|a|e|b|em|link|copydoc) |\{@inherit[dD]oc\}`)
	references = regexp.MustCompile(`<\w+ (?:cref|name|langword)="(?:\w:)?([^"(]*)[^"]*"\s*/>`)
	typewriter = regexp.MustCompile(`(^|\s)\+([\w.#?!]+)\+`) // RDoc
	blockTags  = regexp.MustCompile(`(?i)</?(?:p|ul|ol|li|pre|table|tr|td|div|dl|dt|dd|blockquote|h\d|hr|br|para|list|item)(?:\s[^>]*)?/?>`)
	codeTags   = regexp.MustCompile(`(?i)</?(?:code|tt|c|kbd|samp)>`)
	inlineTags = regexp.MustCompile(`(?i)</?(?:a|b|i|em|strong|span|small|sup|sub|u|var|img|font|cite|q|see|s)(?:\s[^>]*)?/?>`)
)
