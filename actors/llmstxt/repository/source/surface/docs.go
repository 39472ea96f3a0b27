package surface

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

// Summary is the first sentence of a documentation comment whose comment markers are gone, or the first that says
// something by itself; markup that is not Markdown goes, too.
func Summary(doc string) string {
	paragraph := Inline(firstParagraph(doc))
	first := prose.Sentence(paragraph)
	if strings.HasSuffix(first, "?") {
		return cmp.Or(prose.Informative(paragraph), first)
	}
	return first
}

// titled is a doc that says more than the name it stands at: no banner over a part of the file, and without the name
// and a dash in front.
func titled(name, doc string) string {
	text, framed := prose.TrimFrame(doc)
	if framed && prose.IsBanner(doc) || text == "" {
		return ""
	}
	last := name[strings.LastIndexAny(name, ".:#")+1:]
	for _, dash := range []string{" - ", " -- ", " --- ", " – ", " — "} {
		if before, after, ok := strings.Cut(text, dash); ok && (before == name || before == last ||
			before == last+"()") {
			text = after
		}
	}
	return text
}

// firstParagraph is what precedes the first blank line, tag or list of arguments; a heading or code yields to the
// prose below it, and a doc that has nothing but what is returned says that.
func firstParagraph(doc string) string {
	var p paragraph
	for lines := dedent(doc); len(lines) > 0 && !p.line(lines[0]); lines = lines[1:] {
	}
	return cmp.Or(strings.Join(p.kept, " "), p.returned, p.heading, p.code)
}

type paragraph struct {
	kept                    []string
	heading, returned, code string
	aside                   bool // in the body of a directive
}

// line takes the next line and tells whether the paragraph is over.
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
	case prose.StartsWithAny(text, ">>>", "```", "iex>"):
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

// isHeading tells "## Structure".
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return len(text) < len(line) && strings.HasPrefix(text, " ")
}

// isRule tells the lines that frame a heading or a comment.
func isRule(line string) bool {
	if len(line) < 3 || unicode.IsLetter(rune(line[0])) || line[0] >= 0x80 || unicode.IsDigit(rune(line[0])) {
		return false
	}
	return strings.Trim(line, line[:1]) == ""
}

func isDirective(line string) bool {
	return prose.StartsWithAny(line, ".. ", "@!", ":call-seq:", "call-seq:", "!!! ")
}

// isTag tells lines such as "@param x", ":param x:" and "Args:".
func isTag(line string) bool { return tagLine.MatchString(line) }

var tagLine = regexp.MustCompile("^(?:@[a-z]|:[a-z](?:[^:]*[^: ])?:(?:[^`]|$)|(?:Args|Arguments|Parameters|Returns?|Yields|" +
	"Raises|Examples?|Attributes|Globals|Outputs|Usage|Notes?|Options):$)")

// returns is the text of a line that says what is returned.
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

// dedent gives the lines without the indentation that all share; the first line of a docstring begins behind its
// quotes and does not count.
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
