package brace

import (
	"html"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// Javadoc takes the tags of HTML out of a comment, and the names of the tags that only say that a description
// follows. Inline tags are left to summary.
func Javadoc(text string) string {
	return withoutHTML(leadTags(text))
}

// leadTags leaves of "@description text" the text, and of "@module name" nothing. Other tags lose the lines that
// continue them.
func leadTags(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	text = strings.NewReplacer("{@inheritdoc}", "", "{@inheritDoc}", "").Replace(text)
	var b strings.Builder
	isTagged := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if isTagged && trimmed != "" && trimmed[0] != '@' {
			continue
		}
		line = leadTag(line)
		isTagged = surface.IsTag(strings.TrimSpace(line))
		b.WriteString(line)
	}
	return b.String()
}

func leadTag(line string) string {
	tag, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "@")
	if !ok {
		return line
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(tag), " ")
	switch name {
	case "description", "desc", "summary", "classdesc", "fileoverview", "overview", "brief", "short", "details":
		return strings.TrimSpace(rest) + "\n"
	case "file", "module", "packageDocumentation", "export", "class", "constructor", "public", "name", "namespace",
		"license", "{", "}", "struct", "union", "enum", "def", "fn", "typedef", "var", "ingroup", "addtogroup", "defgroup",
		"headerfile", "interface", "headername", "since", "author", "date", "rst", "endrst":
		return "\n"
	}
	return line
}

// withoutHTML drops the tags that HTML knows; block elements end a paragraph.
func withoutHTML(text string) string {
	text = surface.ReplaceEach(text, "<", htmlTag)
	if strings.ContainsRune(text, '&') {
		text = strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ")
	}
	return text
}

// htmlTag gives what is shown instead of the tag that text continues, and what follows it.
func htmlTag(_, text string) (shown, rest string) {
	end := strings.IndexByte(text[:min(len(text), surface.LongestSpan)], '>')
	if end < 0 {
		return "<", text
	}
	inner := text[:end]
	name := strings.Trim(inner, "/ \n")
	if i := strings.IndexAny(name, " \n"); i >= 0 {
		name = name[:i]
	}
	switch strings.ToLower(name) {
	case "p", "ul", "ol", "li", "pre", "table", "tr", "td", "div", "dl", "dt", "dd", "blockquote", "h1", "h2", "h3",
		"h4", "hr", "para", "list", "item":
		return "\n\n", text[end+1:]
	case "br":
		return "\n", text[end+1:]
	case "code", "tt", "c", "kbd", "samp":
		return "`", text[end+1:]
	case "a", "b", "i", "em", "strong", "span", "small", "sup", "sub", "u", "var", "img", "font", "cite", "q", "see",
		"s":
		return "", text[end+1:]
	}
	return "<", text
}

// Doxygen reads \brief and @brief as Javadoc has its tags.
func Doxygen(text string) string {
	if strings.ContainsAny(text, `\@`) {
		var b strings.Builder
		for line := range strings.Lines(text) {
			if trimmed := strings.TrimLeft(line, " \t"); len(trimmed) > 1 && trimmed[0] == '\\' &&
				surface.IsLower(trimmed[1]) {
				line = "@" + trimmed[1:]
			}
			b.WriteString(doxygenWords(line))
		}
		text = b.String()
	}
	return Javadoc(text)
}

// doxygenWords leaves of \ref name and its like the name.
func doxygenWords(line string) string {
	for _, command := range []string{"ref", "c", "p", "a", "e", "b", "em", "link", "endlink", "copydoc"} {
		for _, mark := range []string{`\`, "@"} {
			line = strings.ReplaceAll(line, mark+command+" ", "")
		}
	}
	return line
}

// XmlDoc gives the summary of a C# comment, references by their names.
func XmlDoc(text string) string {
	if _, rest, ok := strings.Cut(text, "<summary>"); ok {
		text, _, _ = strings.Cut(rest, "</summary>")
	} else if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ""
	}
	return withoutHTML(surface.ReplaceEach(text, "<", xmlTag))
}

func xmlTag(_, text string) (shown, rest string) {
	inner, rest, ok := strings.Cut(text, ">")
	if !ok {
		return "<", text
	}
	for _, attribute := range []string{"cref", "name", "langword"} {
		if _, value, ok := strings.Cut(inner, attribute+"=\""); ok && strings.HasSuffix(inner, "/") {
			value, _, _ = strings.Cut(value, `"`)
			return "`" + reducedName(value) + "`", rest
		}
	}
	return htmlTag("", text)
}

// reducedName is what people call a reference such as "M:System.String.Join(System.String)".
func reducedName(reference string) string {
	if i := strings.IndexByte(reference, ':'); i == 1 {
		reference = reference[2:]
	}
	reference, _, _ = strings.Cut(reference, "(")
	return strings.NewReplacer("{", "<", "}", ">").Replace(reference)
}
