package prose

import (
	"regexp"
	"strings"
)

// marks replaces the markup of documentation tools by what a reader sees.
var marks = strings.NewReplacer("<code>", "`", "</code>", "`", "<tt>", "`", "</tt>", "`", "<p>", " ", "</p>", " ",
	"<p/>", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "<em>", "", "</em>", "", "<b>", "", "</b>", "", "<i>", "",
	"</i>", "", "<strong>", "", "</strong>", "", "&lt;", "<", "&gt;", ">", "&quot;", "\"", "&nbsp;", " ")

// Clean removes the markup of documentation tools from a sentence: "[Grids](@id grids)" of Julia, "<code>x</code>" of
// Java, "[Grids][frob.grids]" of Python.
func Clean(s string) string {
	if strings.Contains(s, "](@") {
		s = juliaLink.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "][") {
		s = reference.ReplaceAllString(s, "$1$2")
	}
	if strings.ContainsAny(s, "<&") {
		s = Tidy(marks.Replace(s))
	}
	return s
}

var juliaLink = regexp.MustCompile(`\[([^\[]*?)\]\(@[^)]*\)`)

// reference matches a link to a name in another page or in the code, but not a value that an index follows.
var reference = regexp.MustCompile(`(^|[^\w\])])\[([^\[\]]+)\]\[[^\[\]]*\]`)

// numbered matches "2#", from a list that a tool numbers.
var numbered = regexp.MustCompile(`(?:^|\s)\d+#(?:$|\s)`)

// isResidue recognizes remains of markup and code, and warnings without their subject.
func isResidue(s string) bool {
	low := strings.ToLower(s)
	if phrases["residue has"].In(low) || phrases["residue begins with"].Start(low) ||
		strings.Contains(s, "#") && numbered.MatchString(s) {
		return true
	}
	return phrases["code begins with"].Start(s) && ContainsAny(s, "{", "=", "(", ";")
}
