package prose

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// Summary returns the first sentence of a documentation comment without comment marks, or the first that says
// something by itself. It removes markup other than Markdown.
func Summary(doc string) string {
	paragraph := Inline(firstParagraph(doc))
	first := Sentence(paragraph)
	if strings.HasSuffix(first, "?") {
		return cmp.Or(Informative(paragraph), first)
	}
	return first
}

// firstParagraph returns the text before the first blank line, tag or list of arguments. Prose is preferred to a
// heading or code above it. A doc with nothing but the returned value yields that.
func firstParagraph(doc string) string {
	var p paragraph
	for lines := dedent(doc); len(lines) > 0 && !p.line(lines[0]); lines = lines[1:] {
	}
	return cmp.Or(strings.Join(p.kept, " "), p.returned, p.heading, p.code)
}

type paragraph struct {
	kept                    []string
	heading, returned, code string
	aside                   bool // inside the body of a directive
}

// line reads the next line, and reports whether the paragraph is over.
func (p *paragraph) line(line string) bool {
	text := strings.TrimLeft(line, " ")
	indented := len(text) < len(line)
	p.aside = isDirective(text) || p.aside && (indented || text == "")
	switch {
	case p.aside:
		return len(p.kept) > 0
	case isHeading(text):
		return len(p.kept) > 0
	case isRule(text):
		if len(p.kept) == 1 {
			p.heading, p.kept = p.kept[0], nil
		}
	case text == "" || isTag(text):
		p.returned = cmp.Or(p.returned, returns(text))
		return len(p.kept) > 0
	case StartsWithAny(text, ">>>", "```", "iex>"):
		return true
	case len(p.kept) == 0 && strings.HasPrefix(line, "  "):
		p.code = cmp.Or(p.code, text)
	case p.returned != "":
		return true
	default:
		p.kept = append(p.kept, text)
	}
	return false
}

// isHeading recognizes "## Structure".
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return len(text) < len(line) && strings.HasPrefix(text, " ")
}

// isRule recognizes the lines that frame a heading or a comment.
func isRule(line string) bool {
	if len(line) < 3 || unicode.IsLetter(rune(line[0])) || line[0] >= 0x80 || unicode.IsDigit(rune(line[0])) {
		return false
	}
	return strings.Trim(line, line[:1]) == ""
}

func isDirective(line string) bool {
	return StartsWithAny(line, ".. ", "@!", ":call-seq:", "call-seq:", "!!! ")
}

// isTag recognizes lines such as "@param x", ":param x:" and "Args:".
func isTag(line string) bool { return tagLine.MatchString(line) }

var tagLine = regexp.MustCompile("^(?:@[a-z]|:[a-z](?:[^:]*[^: ])?:(?:[^`]|$)|(?:Args|Arguments|Parameters|Returns?|Yields|" +
	"Raises|Examples?|Attributes|Globals|Outputs|Usage|Notes?|Options):$)")

// returns returns the text of a line about the returned value.
func returns(line string) string {
	for _, tag := range []string{"@return ", "@returns ", ":return:", ":returns:"} {
		if text, ok := strings.CutPrefix(line, tag); ok {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "[") {
				_, text, _ = strings.Cut(text, "]")
			}
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// dedent removes the common indentation of the lines. The first line of a docstring follows the quotes and does not
// count.
func dedent(doc string) []string {
	lines := strings.Split(strings.ReplaceAll(doc, "\t", "    "), "\n")
	least := -1
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if text != "" && (i > 0 || len(text) < len(line)) && (least < 0 || len(line)-len(text) < least) {
			least = len(line) - len(text)
		}
	}
	for i, line := range lines {
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = strings.TrimRight(line[min(max(least, 0), spaces):], " ")
	}
	return lines
}
